//! The loops in which kernels take tickets, read in the assembly for AMD's GPUs.
//!
//! Two groups of 32 lanes share a wave of 64. If their loop has two ways back, the lanes that take one of them leave
//! the others behind: a group goes round without the lane that takes tickets, for ever. So such a loop must have one
//! way back and one end, and neither may be left to which lanes are on.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Result, bail};

/// Instructions that take a ticket: they add to 8 bytes of memory. Nothing else in the kernels does.
const TAKES: [&str; 4] =
    ["global_atomic_add_x2", "flat_atomic_add_x2", "global_atomic_add_u64", "flat_atomic_add_u64"];

/// Instructions that are entered at the first and left at the last of them.
#[derive(Debug)]
struct Block {
    takes: bool,
    /// The last one, if it is a branch.
    by: String,
    /// Where that goes.
    jump: Option<String>,
    /// Whether the next block may come after it.
    falls: bool,
}

impl Default for Block {
    fn default() -> Self {
        Self { takes: false, by: String::new(), jump: None, falls: true }
    }
}

/// A function of the assembly.
#[derive(Debug)]
struct Function<'a> {
    name: &'a str,
    blocks: Vec<Block>,
    /// The block that begins at a label.
    labels: BTreeMap<&'a str, usize>,
}

/// The functions of an assembly that take tickets in a loop; an error if such a loop has a second way back or a second
/// end, or if which lanes are on decides about either.
pub(super) fn with_tickets(assembly: &str) -> Result<BTreeSet<&str>> {
    let mut all = BTreeSet::new();
    for function in functions(assembly) {
        let edges = function.edges()?;
        for at in (0..edges.len()).filter(|at| function.blocks[*at].takes) {
            let around = around(&edges, at, |_, _| true);
            if !around.is_empty() {
                function.judge(&edges, at, &around)?;
                all.insert(function.name);
            }
        }
    }
    Ok(all)
}

/// Cuts an assembly into functions and blocks.
fn functions(assembly: &str) -> Vec<Function<'_>> {
    let names: BTreeSet<&str> = assembly
        .lines()
        .filter_map(|line| line.trim().strip_prefix(".type")?.trim().strip_suffix(",@function"))
        .collect();
    let mut all: Vec<Function<'_>> = Vec::new();
    let mut is_inside = false;
    // Where a jump goes that is too far for a branch: its address is computed before.
    let mut far = None;
    for line in assembly.lines() {
        let line = line.split(';').next().unwrap_or_default().trim();
        if let Some(label) = line.strip_suffix(':') {
            if names.contains(label) {
                is_inside = true;
                all.push(Function { name: label, blocks: vec![Block::default()], labels: BTreeMap::new() });
            } else if label.starts_with(".Lfunc_end") {
                is_inside = false;
            } else if let Some(function) = all.last_mut().filter(|_| is_inside && label.starts_with(".LBB")) {
                function.labels.insert(label, function.blocks.len());
                function.blocks.push(Block::default());
            }
            continue;
        }
        let Some(function) = all.last_mut().filter(|_| is_inside) else { continue };
        let (name, operands) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        if let Some(label) = operands.split(['(', '-']).find(|word| word.starts_with(".LBB")) {
            far = Some(label.to_owned());
        }
        let block = function.blocks.last_mut().expect("a function begins with one");
        block.takes |= TAKES.contains(&name);
        let (jump, falls) = match name {
            "s_endpgm" => (None, false),
            "s_branch" => (Some(operands.trim().to_owned()), false),
            // Without such an address it is a return.
            "s_setpc_b64" => (far.take(), false),
            _ if name.starts_with("s_cbranch_") => (Some(operands.trim().to_owned()), true),
            _ => continue,
        };
        (block.by, block.jump, block.falls) = (name.to_owned(), jump, falls);
        function.blocks.push(Block::default());
    }
    all
}

impl Function<'_> {
    /// The blocks that may come after each block.
    fn edges(&self) -> Result<Vec<Vec<usize>>> {
        let mut all = Vec::new();
        for (at, block) in self.blocks.iter().enumerate() {
            let mut after: Vec<usize> =
                (block.falls && at + 1 < self.blocks.len()).then_some(at + 1).into_iter().collect();
            if let Some(label) = &block.jump {
                match self.labels.get(label.as_str()) {
                    Some(to) => after.push(*to),
                    None => bail!("{}: {} to {label}, which is no label of it", self.name, block.by),
                }
            }
            all.push(after);
        }
        Ok(all)
    }

    /// An error unless the loop round block `at`, which has the blocks `around`, is as it must be.
    fn judge(&self, edges: &[Vec<usize>], at: usize, around: &BTreeSet<usize>) -> Result<()> {
        let name = self.name;
        let mut is_reached = reached(edges, 0, |_, _| true);
        is_reached.insert(0);
        let pairs = |is_wanted: &dyn Fn(usize, usize) -> bool| -> Vec<(usize, usize)> {
            let all = (0..edges.len()).flat_map(|from| edges[from].iter().map(move |to| (from, *to)));
            all.filter(|(from, to)| is_reached.contains(from) && is_wanted(*from, *to)).collect()
        };
        let entries = pairs(&|from, to| !around.contains(&from) && around.contains(&to));
        let heads: BTreeSet<usize> = entries.iter().map(|(_, to)| *to).collect();
        let [head] = heads.iter().copied().collect::<Vec<_>>()[..] else {
            bail!("{name}: the loop round a ticket is entered at {} places", heads.len());
        };
        let back = pairs(&|from, to| around.contains(&from) && to == head);
        let nested = !self::around(edges, at, |_, to| to != head).is_empty();
        if back.len() > 1 || nested {
            bail!(
                "{name}: the loop round a ticket has a second way back, on which lanes may leave others behind"
            );
        }
        let ends = pairs(&|from, to| around.contains(&from) && !around.contains(&to));
        if ends.len() != 1 {
            bail!("{name}: the loop round a ticket has {} ends, and not one", ends.len());
        }
        if let Some((from, _)) =
            back.iter().chain(&ends).find(|(from, _)| self.blocks[*from].by.contains("_exec"))
        {
            let by = &self.blocks[*from].by;
            bail!(
                "{name}: the loop round a ticket goes on while some lanes have tickets ({by}), without the others"
            );
        }
        Ok(())
    }
}

/// The blocks that are on a way from `at` back to it, over such edges; none if there is no way.
fn around(edges: &[Vec<usize>], at: usize, is_edge: impl Fn(usize, usize) -> bool) -> BTreeSet<usize> {
    let mut backwards = vec![Vec::new(); edges.len()];
    for (from, after) in edges.iter().enumerate() {
        for to in after {
            backwards[*to].push(from);
        }
    }
    let after = reached(edges, at, &is_edge);
    let before = reached(&backwards, at, |from, to| is_edge(to, from));
    after.intersection(&before).copied().collect()
}

/// The blocks that can be reached from `start` by at least one such edge.
fn reached(edges: &[Vec<usize>], start: usize, is_edge: impl Fn(usize, usize) -> bool) -> BTreeSet<usize> {
    let (mut all, mut open) = (BTreeSet::new(), vec![start]);
    while let Some(from) = open.pop() {
        let after = edges[from].iter().filter(|to| is_edge(from, **to));
        open.extend(after.filter(|to| all.insert(**to)));
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What clang 19 made for gfx942 of a loop whose idle groups went back by a `continue`: its branches, and what they
    /// depend on.
    const TWO_WAYS_BACK: &str = "\
\t.globl\tdtw_strips
\t.type\tdtw_strips,@function
dtw_strips:                             ; @dtw_strips
; %bb.0:
\ts_mov_b64 s[98:99], 0
.LBB1_1:                                ; =>This Loop Header: Depth=1
\ts_and_saveexec_b64 s[0:1], s[6:7]
\ts_cbranch_execz .LBB1_5
; %bb.2:                                ;   in Loop: Header=BB1_1 Depth=1
\tglobal_atomic_add_x2 v[0:1], v3, v[0:1], s[10:11] sc0
.LBB1_5:                                ;   in Loop: Header=BB1_1 Depth=1
\ts_or_b64 exec, exec, s[0:1]
\tv_readfirstlane_b32 s0, v0
\tv_cmp_lt_i64_e32 vcc, -2, v[0:1]
\ts_and_saveexec_b64 s[84:85], vcc
\ts_cbranch_execz .LBB1_32
.LBB1_20:                               ;   Parent Loop BB1_1 Depth=1
\tv_mov_b32_dpp v5, v5 wave_shr:1 row_mask:0xf bank_mask:0xf
\ts_cbranch_scc1 .LBB1_20
.LBB1_32:                               ;   in Loop: Header=BB1_1 Depth=1
\ts_or_b64 exec, exec, s[84:85]
\tv_cmp_gt_i32_e32 vcc, 2, v2
\ts_or_b64 s[98:99], vcc, s[98:99]
\ts_andn2_b64 exec, exec, s[98:99]
\ts_cbranch_execnz .LBB1_1
; %bb.35:                               ;   in Loop: Header=BB1_1 Depth=1
\ts_or_b64 exec, exec, s[98:99]
\tv_cmp_ne_u32_e32 vcc, 0, v2
\ts_or_b64 s[70:71], vcc, s[70:71]
\ts_andn2_b64 exec, exec, s[70:71]
\ts_cbranch_execnz .LBB1_1
; %bb.36:
\ts_endpgm
.Lfunc_end1:
\t.size\tdtw_strips, .Lfunc_end1-dtw_strips
";

    /// The same loop as it is: one way back, and one end that no lane decides about.
    const ONE_WAY_BACK: &str = "\
\t.type\tdtw_strips,@function
dtw_strips:                             ; @dtw_strips
; %bb.0:
\ts_branch .LBB1_8
.LBB1_6:                                ;   in Loop: Header=BB1_8 Depth=1
\ts_or_b64 exec, exec, s[72:73]
\t; wave barrier
\ts_and_b64 vcc, exec, s[6:7]
\ts_cbranch_vccnz .LBB1_366
.LBB1_8:                                ; =>This Loop Header: Depth=1
\ts_and_saveexec_b64 s[6:7], vcc
\ts_cbranch_execz .LBB1_12
; %bb.9:                                ;   in Loop: Header=BB1_8 Depth=1
\tglobal_atomic_add_x2 v[8:9], v3, v[8:9], s[14:15] sc0
.LBB1_12:                               ;   in Loop: Header=BB1_8 Depth=1
\ts_or_b64 exec, exec, s[6:7]
\tv_readfirstlane_b32 s8, v8
\ts_and_saveexec_b64 s[72:73], vcc
\ts_cbranch_execz .LBB1_6
.LBB1_20:                               ;   Parent Loop BB1_8 Depth=1
\tv_mov_b32_dpp v5, v5 wave_shr:1 row_mask:0xf bank_mask:0xf
\ts_andn2_b64 exec, exec, s[22:23]
\ts_cbranch_execnz .LBB1_20
; %bb.21:                               ;   in Loop: Header=BB1_8 Depth=1
\ts_branch .LBB1_6
.LBB1_366:
\ts_endpgm
.Lfunc_end1:
";

    fn fault(assembly: &str) -> String {
        with_tickets(assembly).unwrap_err().to_string()
    }

    #[test]
    fn one_way_back_is_accepted() {
        assert_eq!(with_tickets(ONE_WAY_BACK).unwrap(), BTreeSet::from(["dtw_strips"]));
    }

    #[test]
    fn a_second_way_back_is_refused() {
        assert!(
            fault(TWO_WAYS_BACK).starts_with("dtw_strips: the loop round a ticket has a second way back")
        );
        // The first of them alone: lanes decide about it.
        let ends = TWO_WAYS_BACK.replacen("s_cbranch_execnz .LBB1_1\n; %bb.35", "; %bb.35", 1);
        assert!(
            fault(&ends).contains("goes on while some lanes have tickets (s_cbranch_execnz)"),
            "{}",
            fault(&ends)
        );
    }

    #[test]
    fn a_loop_in_the_loop_is_refused_if_it_takes_tickets() {
        let nested = ONE_WAY_BACK
            .replace("s_cbranch_execz .LBB1_6\n", "s_cbranch_execz .LBB1_6\n\ts_cbranch_scc1 .LBB1_9\n");
        let nested = nested.replace("; %bb.9: ", ".LBB1_9: ");
        assert!(fault(&nested).contains("second way back"), "{}", fault(&nested));
    }

    #[test]
    fn a_second_end_is_refused() {
        let ends = ONE_WAY_BACK.replace("s_cbranch_execz .LBB1_6", "s_cbranch_scc1 .LBB1_366");
        assert!(fault(&ends).contains("has 2 ends"), "{}", fault(&ends));
    }

    #[test]
    fn tickets_outside_of_loops_are_not_looked_at() {
        let once = ONE_WAY_BACK.replace("s_cbranch_vccnz .LBB1_366", "s_branch .LBB1_366");
        assert!(with_tickets(&once).unwrap().is_empty());
        assert!(with_tickets("").unwrap().is_empty());
    }

    #[test]
    fn far_jumps_are_followed() {
        let far = "s_getpc_b64 s[4:5]\n.Lpost_getpc0:\n\ts_add_u32 s4, s4, (.LBB1_6-.Lpost_getpc0)&4294967295
\ts_addc_u32 s5, s5, (.LBB1_6-.Lpost_getpc0)>>32\n\ts_setpc_b64 s[4:5]\n.LBB1_366:";
        let assembly = ONE_WAY_BACK.replace("s_branch .LBB1_6\n.LBB1_366:", far);
        assert_ne!(assembly, ONE_WAY_BACK);
        assert_eq!(with_tickets(&assembly).unwrap(), BTreeSet::from(["dtw_strips"]));
        let lost = assembly.replace(".LBB1_6-", ".LBB1_7-");
        assert!(fault(&lost).contains("no label"), "{}", fault(&lost));
    }
}
