// SPDX-License-Identifier: Apache-2.0
//! Whether two circuits with the same registers and blocks compute the same between them: what is built alike is one
//! variable of a solver, and of the rest the solver says whether any values tell them apart.

use std::collections::{BTreeMap, HashMap};

use batsat::{BasicSolver, Lit, SolverInterface, lbool};

use super::cells::{CarryBit, Kind, Net, Netlist, reduce};
use super::points::{Point, points};
use super::simulate::Simulator;

/// A variable, or its inverse if the lowest bit is set; 0 and 1 are the constants.
type Literal = u32;
/// A node: a table of up to four others; none of an input.
type Table = (u16, [Literal; 4]);

/// Logic of both circuits, each node once.
#[derive(Default)]
struct Graph {
    nodes: Vec<Option<Table>>,
    known: HashMap<Table, Literal>,
    inputs: HashMap<String, Literal>,
}

impl Graph {
    fn new() -> Self {
        // Node 0 is the constant.
        Self { nodes: vec![None], ..Self::default() }
    }

    fn input(&mut self, name: String) -> Literal {
        *self.inputs.entry(name).or_insert_with(|| {
            self.nodes.push(None);
            2 * (self.nodes.len() as Literal - 1)
        })
    }

    /// A table of literals: inverse ones and constants go into the table, and of those that are left nothing is sorted:
    /// what placing exchanged, it exchanged in both.
    fn lut(&mut self, init: u16, inputs: [Literal; 4]) -> Literal {
        let mut table = 0;
        for index in 0..16u16 {
            let turned = (0..4).fold(index, |at, pin| at ^ ((inputs[pin] & 1) as u16) << pin);
            table |= (init >> turned & 1) << index;
        }
        // Inputs without the inverse: 0 is the constant 0, and `reduce` knows constants by these numbers.
        let mut nets = inputs.map(|literal| if literal <= 1 { Net::ZERO } else { Net(literal & !1) });
        let table = reduce(table, &mut nets);
        if table == 0 || table == u16::MAX {
            return Literal::from(table == u16::MAX);
        }
        for (pin, net) in nets.iter().enumerate() {
            let alone = [0xaaaa, 0xcccc, 0xf0f0, 0xff00][pin];
            if table == alone || table == !alone {
                return net.0 | Literal::from(table != alone);
            }
        }
        // A table that is 1 at 0 is the inverse of one that is not.
        let inverse = table & 1;
        let key = (
            if inverse == 1 { !table } else { table },
            nets.map(|net| if net == Net::ONE { 0 } else { net.0 }),
        );
        let node = *self.known.entry(key).or_insert_with(|| {
            self.nodes.push(Some(key));
            2 * (self.nodes.len() as Literal - 1)
        });
        node | Literal::from(inverse)
    }

    /// The literals of all nets of a circuit. Cells come behind those that they read: `order` has them so.
    fn add(&mut self, netlist: &Netlist, order: &[(usize, usize)]) -> Vec<Literal> {
        let mut values: Vec<Literal> = vec![0; netlist.nets as usize];
        values[Net::ONE.index()] = 1;
        for port in netlist.ports.iter().filter(|port| !port.output) {
            values[port.net.index()] = self.input(port.name.clone());
        }
        for cell in netlist.cells.iter().filter(|cell| cell.kind.cuts()) {
            match &cell.kind {
                Kind::Ff { output, .. } => values[output.index()] = self.input(cell.name.clone()),
                Kind::Block { pins, .. } => {
                    for pin in pins.iter().filter(|pin| pin.output) {
                        values[pin.net.index()] = self.input(format!("{}.{}", cell.name, pin.name));
                    }
                }
                _ => {}
            }
        }
        let mut carries: HashMap<usize, Literal> = HashMap::new();
        for (cell, half) in order {
            let get = |net: &Net, values: &[Literal]| values[net.index()];
            match &netlist.cells[*cell].kind {
                Kind::Lut { init, inputs, output } => {
                    let inputs = inputs.map(|net| get(&net, &values));
                    values[output.index()] = self.lut(*init, inputs);
                }
                Kind::Mux { select, zero, one, output, .. } => {
                    let pins = [zero, one, select].map(|net| get(net, &values));
                    values[output.index()] = self.lut(MUX, [pins[0], pins[1], pins[2], 0]);
                }
                Kind::Carry { carry_in, bits, carry_out } => {
                    let before = match half {
                        0 => get(carry_in, &values),
                        _ => carries.get(cell).copied().unwrap_or(0),
                    };
                    let CarryBit { init, inject, inputs, sum } = &bits[*half];
                    let inputs = inputs.map(|net| get(&net, &values));
                    let propagate = self.lut(*init, inputs);
                    let generate = self.lut(*init & 0xf, [inputs[0], inputs[1], 0, 0]);
                    let (added, generate) = if *inject { (0, 0) } else { (before, generate) };
                    values[sum.index()] = self.lut(XOR, [propagate, added, 0, 0]);
                    let carried = self.lut(MUX, [generate, before, propagate, 0]);
                    match half {
                        0 => drop(carries.insert(*cell, carried)),
                        _ => values[carry_out.index()] = carried,
                    }
                }
                Kind::Ff { .. } | Kind::Block { .. } => {}
            }
        }
        values
    }

    /// What is compared of a circuit, by name.
    fn points(&mut self, circuit: &Simulator) -> BTreeMap<String, Literal> {
        let values = self.add(circuit.netlist, &circuit.order);
        let point = |(name, point): (String, Point)| {
            (name, values[point.net.index()] ^ Literal::from(point.inverted))
        };
        points(circuit.netlist).into_iter().map(point).collect()
    }
}

/// The third input chooses the second.
const MUX: u16 = 0xcaca;
const XOR: u16 = 0x6666;

/// Whether any values of inputs and of what is cut tell two circuits apart. `None`: the solver gives up.
pub(crate) fn differ(circuits: [&Simulator; 2]) -> Option<bool> {
    let mut graph = Graph::new();
    let [ours, theirs] = circuits.map(|circuit| graph.points(circuit));
    if !ours.keys().eq(theirs.keys()) {
        return Some(true);
    }
    let pairs: Vec<(Literal, Literal)> =
        ours.into_values().zip(theirs.into_values()).filter(|(a, b)| a != b).collect();
    let mut solver = Clauses::default();
    let any: Vec<Lit> = pairs
        .iter()
        .map(|(a, b)| {
            let [a, b] = [solver.literal(&graph, *a), solver.literal(&graph, *b)];
            let different = Lit::new(solver.solver.new_var_default(), true);
            solver.add(&[!different, a, b]);
            solver.add(&[!different, !a, !b]);
            different
        })
        .collect();
    if any.is_empty() {
        return Some(false);
    }
    solver.add(&any);
    match solver.solver.solve_limited(&[]) {
        answer if answer == lbool::TRUE => Some(true),
        answer if answer == lbool::FALSE => Some(false),
        _ => None,
    }
}

/// What the solver is told of a graph: only what the points rest on.
#[derive(Default)]
struct Clauses {
    solver: BasicSolver,
    variables: HashMap<Literal, Lit>,
}

impl Clauses {
    fn add(&mut self, clause: &[Lit]) {
        self.solver.add_clause_reuse(&mut clause.to_vec());
    }

    fn literal(&mut self, graph: &Graph, wanted: Literal) -> Lit {
        let mut waiting = vec![wanted >> 1];
        while let Some(node) = waiting.last().copied() {
            if self.variables.contains_key(&node) {
                waiting.pop();
                continue;
            }
            let table = graph.nodes[node as usize];
            let needs = |input: &Literal| *input > 1 && !self.variables.contains_key(&(input >> 1));
            let missing: Vec<Literal> =
                table.iter().flat_map(|(_, inputs)| inputs).filter(|i| needs(i)).map(|i| i >> 1).collect();
            if !missing.is_empty() {
                waiting.extend(missing);
                continue;
            }
            waiting.pop();
            let own = Lit::new(self.solver.new_var_default(), true);
            self.variables.insert(node, own);
            match table {
                None if node == 0 => self.add(&[!own]),
                None => {}
                Some((table, inputs)) => self.table(own, table, inputs),
            }
        }
        let own = self.variables[&(wanted >> 1)];
        if wanted & 1 == 1 { !own } else { own }
    }

    /// A clause for every row of a table; inputs that do not count are left out.
    fn table(&mut self, own: Lit, table: u16, inputs: [Literal; 4]) {
        for row in 0..16u16 {
            if (0..4).any(|pin| inputs[pin] <= 1 && row >> pin & 1 == 1) {
                continue;
            }
            let mut clause: Vec<Lit> = (0..4)
                .filter(|pin| inputs[*pin] > 1)
                .map(|pin| {
                    let input = self.variables[&(inputs[pin] >> 1)];
                    if row >> pin & 1 == 1 { !input } else { input }
                })
                .collect();
            clause.push(if table >> row & 1 == 1 { own } else { !own });
            self.add(&clause);
        }
    }
}
