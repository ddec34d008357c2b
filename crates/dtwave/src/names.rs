//! Names of devices: one, several, or all of a backend.

use dtw_core::{BackendKind, Error, Result};

/// The names in a list: `cuda:0,1` is `cuda:0` and `cuda:1`, and `cuda:all` every GPU of CUDA that is `usable`, by the
/// numbers of these. A name without a list is itself, whatever it is.
///
/// # Errors
/// [`Error::Invalid`] for a number without a backend before it, and for all of a backend that is none of GPUs.
pub(crate) fn separated(name: &str, usable: impl Fn(&BackendKind) -> Vec<usize>) -> Result<Vec<String>> {
    if let Some(backend) = name.strip_suffix(":all") {
        return all_of(backend, name, usable);
    }
    let parts: Vec<&str> = name.split(',').map(str::trim).collect();
    // The name of a GPU may have a comma.
    if parts.len() == 1 || !parts.iter().all(|part| is_number(part) || is_of_backend(part)) {
        return Ok(vec![name.to_owned()]);
    }
    let mut names: Vec<String> = Vec::new();
    for part in parts {
        if !is_number(part) {
            names.push(part.to_owned());
            continue;
        }
        // The backend is that of the name before.
        let before = names.last().and_then(|before| before.split_once(':'));
        let Some((backend, _)) = before else {
            return Err(Error::invalid(format!(
                "expected devices like \"cuda:0,1\" or \"cuda:0,cuda:1\", got {name:?}, where {part} is of no backend"
            )));
        };
        names.push(format!("{backend}:{part}"));
    }
    Ok(names)
}

fn is_number(part: &str) -> bool {
    !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit())
}

fn is_of_backend(part: &str) -> bool {
    BackendKind::of(part.split(':').next().unwrap_or(part)).is_some()
}

/// The names of all usable devices of a GPU's backend; if there is none, that of the first, whose error says why.
fn all_of(backend: &str, name: &str, usable: impl Fn(&BackendKind) -> Vec<usize>) -> Result<Vec<String>> {
    let Some(kind) = BackendKind::of_gpus().iter().find(|kind| kind.name == backend) else {
        let all: Vec<_> = BackendKind::of_gpus().iter().map(|kind| format!("{}:all", kind.name)).collect();
        return Err(Error::invalid(format!(
            "expected {}, got {name:?}",
            dtw_core::backend_kind::either(&all)
        )));
    };
    let names: Vec<String> = usable(kind).iter().map(|number| format!("{backend}:{number}")).collect();
    Ok(if names.is_empty() { vec![backend.to_owned()] } else { names })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_names() {
        let of = |name: &str| separated(name, |_| vec![0, 2]).unwrap();
        assert_eq!(of("cuda:all"), ["cuda:0", "cuda:2"]);
        assert_eq!(of("cpu"), ["cpu"]);
        assert_eq!(of("cuda:0,2"), ["cuda:0", "cuda:2"]);
        assert_eq!(of("cuda:0, 0 ,cpu"), ["cuda:0", "cuda:0", "cpu"]);
        assert_eq!(of("cuda,cpu"), ["cuda", "cpu"]);
        assert_eq!(of("wgpu:0,1"), ["wgpu:0", "wgpu:1"]);
        // A part of the name of one GPU.
        assert_eq!(of("wgpu:radeon, pro"), ["wgpu:radeon, pro"]);
        for name in ["cuda,1", "0,1", "cpu,0"] {
            let error = separated(name, |_| Vec::new()).unwrap_err().to_string();
            assert!(error.contains("cuda:0,1") && error.contains("of no backend"), "{error}");
        }
        let error = separated("cpu:all", |_| Vec::new()).unwrap_err().to_string();
        assert_eq!(error, "expected cuda:all, hip:all or wgpu:all, got \"cpu:all\"");
    }
}
