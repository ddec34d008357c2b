//! The demo's report: one HTML page with the figures inside, readable without a network.

use std::fmt::Write;
use std::io::Read;

use crate::ecg;

pub(super) struct Page {
    backend: String,
    pub(super) sections: Vec<Section>,
}

/// A heading with what follows it, in order.
pub(super) struct Section {
    title: String,
    body: String,
}

impl Section {
    pub(super) fn new(title: &str) -> Self {
        Section { title: title.to_owned(), body: String::new() }
    }

    pub(super) fn text(mut self, text: &str) -> Self {
        let _ = writeln!(self.body, "<p>{}</p>", escaped(text));
        self
    }

    /// A table; cells may hold markup.
    pub(super) fn table(mut self, header: &[&str], rows: Vec<Vec<String>>) -> Self {
        let head: String = header.iter().map(|h| format!("<th>{}</th>", escaped(h))).collect();
        let _ = writeln!(self.body, "<div class=\"wide\"><table>\n<tr>{head}</tr>");
        for row in rows {
            let cells: String = row.iter().map(|c| format!("<td>{c}</td>")).collect();
            let _ = writeln!(self.body, "<tr>{cells}</tr>");
        }
        self.body.push_str("</table></div>\n");
        self
    }

    /// An SVG document, and the file it is also in.
    pub(super) fn figure(mut self, file: &str, svg: String) -> Self {
        let _ = writeln!(
            self.body,
            "<figure>\n{svg}\n<figcaption><a href=\"{file}\">{file}</a></figcaption>\n</figure>"
        );
        self
    }

    /// The command that does the same.
    pub(super) fn command(mut self, command: &str) -> Self {
        let _ = writeln!(self.body, "<pre>{}</pre>", escaped(command));
        self
    }
}

impl Page {
    pub(super) fn new(backend: &str) -> Self {
        Page { backend: backend.to_owned(), sections: Vec::new() }
    }

    pub(super) fn render(&self, secs: f64) -> String {
        let mut html = String::from(HEAD);
        let _ = write!(
            html,
            "<h1>dtwave demo</h1>\n<p class=\"lead\">Elastic distances between time series, computed on {} in {secs:.1} s. \
             The inputs lie beside this page; every command below can be run in this folder.</p>\n",
            escaped(&self.backend)
        );
        for section in &self.sections {
            let _ =
                write!(html, "<section>\n<h2>{}</h2>\n{}</section>\n", escaped(&section.title), section.body);
        }
        let _ = write!(
            html,
            "<footer>dtwave {}. {}. Cylinder–bell–funnel after Saito 1994.</footer>\n</main></body></html>\n",
            env!("CARGO_PKG_VERSION"),
            escaped(ecg::ATTRIBUTION)
        );
        html
    }
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

/// Whether a file is a report: it begins as each of them does.
pub(super) fn is_report(file: impl Read) -> std::io::Result<bool> {
    let title = "<title>dtwave demo</title>";
    let start = &HEAD[..HEAD.find(title).unwrap_or(0) + title.len()];
    let mut found = Vec::new();
    file.take(start.len() as u64).read_to_end(&mut found)?;
    Ok(found == start.as_bytes())
}

const HEAD: &str = "<!doctype html>
<html lang=\"en\"><head><meta charset=\"utf-8\"><title>dtwave demo</title>
<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">
<style>
body { margin: 0; background: #f6f7f9; color: #1f2933; font: 16px/1.55 system-ui, sans-serif; }
main { max-width: 1080px; margin: 0 auto; padding: 32px 24px 64px; }
h1 { font-size: 30px; margin: 0 0 4px; }
h2 { font-size: 20px; margin: 0 0 8px; }
p { max-width: 72ch; margin: 0 0 14px; }
.lead { color: #5f6b7a; }
section { background: #fff; border: 1px solid #e4e7eb; border-radius: 10px; padding: 22px 24px; margin: 22px 0; }
figure { margin: 6px 0 14px; }
figure svg { max-width: 100%; height: auto; display: block; }
figcaption { font-size: 13px; }
a { color: #0072b2; text-decoration: none; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; margin: 4px 0 16px; font-size: 14px; font-variant-numeric: tabular-nums; }
th, td { text-align: left; padding: 5px 22px 5px 0; border-bottom: 1px solid #e4e7eb; white-space: nowrap; }
th { color: #5f6b7a; font-weight: 600; }
pre { background: #1f2933; color: #f6f7f9; padding: 10px 14px; border-radius: 6px; font-size: 13px; margin: 0;
      white-space: pre-wrap; overflow-wrap: anywhere; }
code { font-size: 13px; }
footer { color: #5f6b7a; font-size: 13px; }
</style></head><body><main>
";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_escaped_and_sections_keep_their_order() {
        let mut page = Page::new("cpu");
        page.sections.push(Section::new("A & B").text("x < y").command("dtwave a > b"));
        page.sections.push(Section::new("C").table(&["h"], vec![vec!["1".into()]]));
        let html = page.render(1.0);
        assert!(html.starts_with("<!doctype html>") && html.ends_with("</html>\n"));
        assert!(
            html.contains("<h2>A &amp; B</h2>") && html.contains("x &lt; y") && html.contains("a &gt; b")
        );
        assert!(html.find("A &amp; B").unwrap() < html.find("<h2>C</h2>").unwrap());
        assert!(html.contains("PhysioNet") && html.contains("ODC-BY 1.0"));
    }
}
