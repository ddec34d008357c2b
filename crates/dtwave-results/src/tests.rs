//! Files are whole or untouched, and of one writer.

use super::places::is_special;
use super::*;

fn names(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).unwrap();
    let mut names: Vec<String> = entries.map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

fn refused(path: &Path) -> String {
    format!("{:#}", Target::take(path).expect_err("the target should be refused"))
}

#[test]
fn a_failed_write_leaves_the_old_file_and_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("out.csv");
    std::fs::write(&path, "old").unwrap();
    let result = write_file(&path, |out| {
        out.write_all(&[b'x'; 100_000])?;
        Err(io::ErrorKind::StorageFull.into())
    });
    let message = format!("{:#}", result.unwrap_err());
    assert!(message.ends_with("out.csv: the disk is full"), "{message}");
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "old");
    assert_eq!(names(folder.path()), ["out.csv"]);
}

#[cfg(unix)]
#[test]
fn names_of_one_file_are_known() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    for name in ["one", "other"] {
        std::fs::write(path(name), "the same text").unwrap();
    }
    std::fs::hard_link(path("one"), path("hard")).unwrap();
    std::os::unix::fs::symlink("one", path("soft")).unwrap();
    for name in ["one", "hard", "soft", "./one"] {
        assert!(is_same_file(&path("one"), &path(name)), "{name}");
        assert!(!is_same_file(&path("other"), &path(name)), "{name}");
    }
    for missing in ["missing", "one/one"] {
        assert!(!is_same_file(&path(missing), &path(missing)), "a file that is not there is none");
        assert!(!is_same_file(&path("one"), &path(missing)));
    }
}

#[test]
fn a_finished_write_replaces_the_old_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("out.csv");
    for text in ["one", "two"] {
        write_file(&path, |out| out.write_all(text.as_bytes())).unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), text);
    }
    assert_eq!(names(folder.path()), ["out.csv"]);
}

#[test]
fn folders_that_cannot_take_the_file_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let message = refused(&folder.path().join("no/out.csv"));
    assert!(message.contains("does not exist"), "{message}");
    let message = refused(folder.path());
    assert!(message.contains("it is a folder"), "{message}");
    let file = folder.path().join("file");
    std::fs::write(&file, "").unwrap();
    let message = refused(&file.join("out.csv"));
    assert!(message.contains("is not a folder"), "{message}");
}

#[test]
fn a_taken_target_is_refused_until_it_is_given_up() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("out.csv");
    let first = Target::take(&path).unwrap();
    assert!(!path.exists());
    let message = refused(&folder.path().join("./out.csv"));
    assert!(message.contains("another output of this command leads to the same file"), "{message}");
    // Another process says who it is.
    std::fs::write(folder.path().join(".out.csv.dtwave"), "dtwave 4711\n").unwrap();
    let message = refused(&path);
    assert!(message.contains("another dtwave (process 4711) is writing it"), "{message}");
    drop(first);
    assert!(names(folder.path()).is_empty());
    Target::take(&path).unwrap().write(|out| out.write_all(b"x")).unwrap();
    assert_eq!(names(folder.path()), ["out.csv"]);
}

#[test]
fn what_a_killed_run_left_is_taken_over() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("out.csv");
    std::fs::write(folder.path().join(".out.csv.dtwave"), "half a result, longer than the next one").unwrap();
    write_file(&path, |out| out.write_all(b"whole")).unwrap();
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "whole");
    assert_eq!(names(folder.path()), ["out.csv"]);
}

#[test]
fn a_draft_that_is_no_file_is_in_the_way() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join(".out.csv.dtwave")).unwrap();
    let message = refused(&folder.path().join("out.csv"));
    assert!(message.contains(".out.csv.dtwave is in the way; delete it"), "{message}");
}

#[test]
fn a_name_as_long_as_the_file_system_takes_is_written() {
    let folder = tempfile::tempdir().unwrap();
    let name = format!("{}.csv", "n".repeat(251));
    write_file(&folder.path().join(&name), |out| out.write_all(b"x")).unwrap();
    assert_eq!(names(folder.path()), [name]);
}

#[cfg(unix)]
mod links {
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    #[test]
    fn symbolic_links_are_written_through() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        std::fs::create_dir(at("real")).unwrap();
        symlink("real/out.csv", at("near.csv")).unwrap();
        symlink("near.csv", at("far.csv")).unwrap();
        for text in ["not there yet", "there"] {
            write_file(&at("far.csv"), |out| out.write_all(text.as_bytes())).unwrap();
            assert_eq!(std::fs::read_to_string(at("real/out.csv")).unwrap(), text);
            assert!(at("near.csv").is_symlink() && at("far.csv").is_symlink());
        }
        assert_eq!(names(&at("real")), ["out.csv"]);
        let _taken = Target::take(&at("real/../real/out.csv")).unwrap();
        for name in ["near.csv", "far.csv", "real/out.csv"] {
            assert!(refused(&at(name)).contains("the same file"), "{name}");
        }
        symlink("b.csv", at("a.csv")).unwrap();
        symlink("a.csv", at("b.csv")).unwrap();
        assert!(refused(&at("a.csv")).contains("in a circle"));
    }

    #[test]
    fn hard_links_of_a_file_have_one_writer() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        std::fs::write(at("a.csv"), "old").unwrap();
        std::fs::hard_link(at("a.csv"), at("b.csv")).unwrap();
        let first = Target::take(&at("a.csv")).unwrap();
        let message = refused(&at("b.csv"));
        assert!(message.contains("another process holds a lock on this file"), "{message}");
        first.write(|out| out.write_all(b"new")).unwrap();
        write_file(&at("b.csv"), |out| out.write_all(b"other")).unwrap();
        assert_eq!(std::fs::read_to_string(at("a.csv")).unwrap(), "new");
        assert_eq!(names(folder.path()), ["a.csv", "b.csv"]);
    }

    #[test]
    fn the_mode_of_a_replaced_file_stays() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("out.csv");
        std::fs::write(&path, "old").unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o640)).unwrap();
        write_file(&path, |out| out.write_all(b"new")).unwrap();
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o640);
    }
}

#[cfg(target_os = "linux")]
#[test]
fn devices_are_written_to_directly_and_a_full_one_is_an_error() {
    write_file(Path::new("/dev/null"), |out| out.write_all(b"x")).unwrap();
    assert!(is_special(Path::new("/dev/null")));
    let result = write_file(Path::new("/dev/full"), |out| out.write_all(b"x"));
    assert_eq!(format!("{:#}", result.unwrap_err()), "cannot write /dev/full: the disk is full");
}
