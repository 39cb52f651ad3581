import { reportLoss } from './loss-report'
import { limitKinds } from './population'
import type { ScaleProfile } from './profile'
import type { ScaleOutcome } from './scale-world'
import type { Samples } from './samples'
import type { Sent } from './sent-counter'
import type { SetAside } from './set-aside'
import { count, percent, row, seconds, usd } from './table'
import type { Outcome, TrafficFigures } from './traffic-figures'

/** Formats the figures of a run as text, in sections of aligned lines. */
export function reportScale(outcome: ScaleOutcome): string {
  return [
    heading(outcome.profile),
    ...reportRequests(outcome),
    ...reportRoundTrips(outcome),
    ...reportSetAside(outcome),
    ...reportLoss(outcome),
    ...reportPromises(outcome),
  ].join('\n')
}

function heading(profile: ScaleProfile): string {
  const { nodes, accounts, regions, farMs, requestsPerSecond, seed } = profile
  const { warmUpMs, measuredMs, affinity, sliceStore, bookingRoundTrips } = profile
  const place = regions === 1 ? 'one region' : `${regions} regions, ${farMs} ms between them`
  return `Simulated: ${nodes} nodes, ${count(accounts)} accounts, ${place}; seed ${seed}.
The code of leases, slices, journal and booking is the product's. Clock, network, disks, PostgreSQL, the store of
limits (${sliceStore}), load balancer and customers are simulated: ${count(requestsPerSecond)} requests a second, at ${
    affinity === 'anywhere' ? 'any node' : affinity === 'home' ? 'the home region' : 'one node'
  } of each
account, ${seconds(warmUpMs)} to warm up and ${seconds(measuredMs)} measured. A booking locks its rows for ${bookingRoundTrips} round trips.`
}

function reportRequests({ profile, traffic, accountsSeen }: ScaleOutcome): string[] {
  const regions = traffic.measured
  const line = (name: string, of: (figures: TrafficFigures) => string) => row(name, regions.map(of))
  const rejected = (name: string, outcome: Outcome) =>
    line(`  rejected: ${name}`, (region) => count(region.of(outcome)))
  const wait = (name: string, of: (figures: TrafficFigures) => Samples) =>
    line(`  ${name}, p50 / p99 / max ms`, (region) => {
      const waits = of(region)
      return [0.5, 0.99, 1].map((share) => waits.percentile(share).toFixed(0)).join(' / ')
    })
  return [
    '',
    row(
      'Requests',
      regions.map((_, at) => (at === 0 ? 'near' : `${profile.farMs} ms away`)),
    ),
    line('  all', ({ requests }) => count(requests)),
    line('  served', (region) => count(region.of('served'))),
    rejected('credit', 'no credit'),
    ...limitKinds.map((kind) => rejected(kind, kind)),
    line('  failed', (region) => count(region.of('failed'))),
    line('  waited for neither store nor ledger', ({ waits }) => percent(1 - waits.shareAbove(0))),
    wait('waited', ({ waits }) => waits),
    wait('  for the store of limits', ({ limitWaits }) => limitWaits),
    wait('  for the ledger', ({ ledgerWaits }) => ledgerWaits),
    row('  accounts that sent any, in the whole run', [count(accountsSeen)]),
  ]
}

const requestsOf = (regions: readonly TrafficFigures[]) =>
  regions.reduce((sum, { requests }) => sum + requests, 0)

/** Reports what was sent for each request of the measured time, and of the time after a loss. */
function reportRoundTrips({ profile, traffic, sent }: ScaleOutcome): string[] {
  const { bookingRoundTrips } = profile
  const phases: [Sent, number][] = [[sent.measured, requestsOf(traffic.measured)]]
  if (profile.loss) phases.push([sent.lost, requestsOf(traffic.lost)])
  const line = (name: string, of: (sent: Sent) => number) =>
    row(
      `  ${name}`,
      phases.map(([one, requests]) => (of(one) / Math.max(1, requests)).toFixed(3)),
    )
  const total = ({ statements }: Sent) =>
    [...statements].reduce(
      (sum, [kind, times]) => sum + times * (kind === 'book' ? 1 + bookingRoundTrips : 1),
      0,
    )
  const kinds = [...sent.measured.statements].toSorted(([, a], [, b]) => b - a)
  return [
    '',
    row('Round trips a request', ['measured', 'after the loss'].slice(0, phases.length)),
    line('database, with those of bookings', total),
    ...kinds.map(([kind]) =>
      line(`  ${kind === 'book' ? 'book, transactions' : kind}`, ({ statements }) => {
        return statements.get(kind) ?? 0
      }),
    ),
    line('store of limits', ({ slices }) => Object.values(slices).reduce((a, b) => a + b, 0)),
    ...(['read', 'write', 'recall', 'beat'] as const).map((kind) =>
      line(`  ${kind}`, ({ slices }) => slices[kind]),
    ),
    line('notifications to nodes', ({ notifications }) => notifications),
  ]
}

const partsOf = ({ parts, shares }: SetAside) => [
  count(parts.size),
  percent(shares.percentile(0.5)),
  percent(shares.percentile(0.99)),
  count(parts.percentile(0.5)),
  count(parts.percentile(0.99)),
]

function reportSetAside({ leased, sliced, balances }: ScaleOutcome): string[] {
  return [
    '',
    row('Set aside by nodes and idle', ['of', 'share p50', 'p99', 'nodes p50', 'p99']),
    row('  credit in leases, by account', partsOf(leased)),
    ...limitKinds.map((kind) => row(`  ${kind} in slices, by limit`, partsOf(sliced[kind]))),
    row('  credit in leases, USD', [usd(leased.amounts.sum)]),
    row('  balances of the accounts that have leases, USD', [usd(Number(balances.leasing))]),
    row('  balances of all accounts, USD', [usd(Number(balances.all))]),
  ]
}

function reportPromises(outcome: ScaleOutcome): string[] {
  const { promises, delivered, writtenOff, unbooked, falseRefusals, loss, traffic } = outcome
  const { drainedMs } = outcome
  const before = falseRefusals.filter(({ atMs }) => atMs < (loss?.atMs ?? Infinity)).length
  const all = [...traffic['warm-up'], ...traffic.measured]
  const refused = all.reduce(
    (sum, region) => sum + limitKinds.reduce((part, kind) => part + region.of(kind), 0),
    0,
  )
  return [
    '',
    row('Promises', []),
    row('  answered requests, each booked once', [count(delivered)]),
    row('  all booked and returned, after the last request', [
      drainedMs === undefined ? 'not yet' : seconds(drainedMs),
    ]),
    row('  false rejections by limits, of all, without a loss', [count(before), count(refused)]),
    row('  borne by the house, USD', [usd(Number(writtenOff))]),
    row('  cost of requests that died with their nodes, USD', [usd(Number(unbooked))]),
    ...[...promises.broken].map(([promise, times]) => `  BROKEN ${promise}: ${times} times`),
    ...promises.found.map(({ atMs, promise, details }) => {
      return `    ${seconds(atMs)}: ${promise}: ${details}`
    }),
    promises.broken.size === 0 ? '  every promise held' : '  promises were broken',
  ]
}
