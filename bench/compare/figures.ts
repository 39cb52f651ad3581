import type { Sample } from './measure'

/** A row of a table: medians over the rounds. CPU in microseconds, times in milliseconds. */
export interface Figures {
  subject: string
  scenario: string
  rounds: number
  cpuPerRequest: number
  /** Including its database and cache. */
  cpuPerRequestAll: number
  /** An event of a stream, beyond what a plain request costs; undefined for plain answers. */
  cpuPerChunk?: number
  rate: number
  eventsPerSecond: number
  p50: number
  p99: number
  /** Latency beyond direct requests to the provider in the same round. */
  addedP50: number
  addedP99: number
  firstByteP50: number
  residentMb: number
  busy: Sample['busy']
  failed: number
  cut: number
  failure: string
}

export const median = (values: readonly number[]): number => {
  const sorted = values.filter((value) => !Number.isNaN(value)).toSorted((a, b) => a - b)
  const middle = Math.floor(sorted.length / 2)
  const high = sorted[middle] ?? Number.NaN
  return sorted.length % 2 === 1 ? high : ((sorted[middle - 1] ?? Number.NaN) + high) / 2
}

const failedOf = ({ failed }: Sample) =>
  Object.values(failed).reduce((sum, count) => sum + count, 0)

/** The scenario that measures the cost of a request without its chunks. */
const plainScenario = 'chat-64'

/** Computes the figures of all samples, a row for each subject and scenario, in order of first appearance. */
export function figuresOf(samples: readonly Sample[]): Figures[] {
  const find = (subject: string, scenario: string, round: number) =>
    samples.find((it) => it.subject === subject && it.scenario === scenario && it.round === round)
  const perChunk = (sample: Sample) => {
    const plain = find(sample.subject, plainScenario, sample.round)?.cpu.own ?? Number.NaN
    const requests = sample.finished + sample.disconnected + sample.cut
    return ((sample.cpu.own - plain) * requests) / sample.events
  }
  const added = (sample: Sample, part: 'p50' | 'p99') =>
    sample.complete[part] -
    (find('direct', sample.scenario, sample.round)?.complete[part] ?? Number.NaN)

  const groups = Map.groupBy(samples, ({ subject, scenario }) => `${subject} ${scenario}`)
  return [...groups.values()].flatMap((group) => {
    const [first] = group
    if (!first) return []
    const of = (read: (sample: Sample) => number) => median(group.map(read))
    const sum = (read: (sample: Sample) => number) =>
      group.reduce((total, sample) => total + read(sample), 0)
    const hasEvents = sum(({ events }) => events) > 0
    return [
      {
        subject: first.subject,
        scenario: first.scenario,
        rounds: group.length,
        cpuPerRequest: of(({ cpu }) => cpu.own),
        cpuPerRequestAll: of(({ cpu }) => cpu.all),
        ...(hasEvents && { cpuPerChunk: of(perChunk) }),
        rate: of(({ rate }) => rate),
        eventsPerSecond: of(({ events, seconds }) => events / seconds),
        p50: of(({ complete }) => complete.p50),
        p99: of(({ complete }) => complete.p99),
        addedP50: of((sample) => added(sample, 'p50')),
        addedP99: of((sample) => added(sample, 'p99')),
        firstByteP50: of(({ firstByte }) => firstByte.p50),
        residentMb: Math.max(...group.map(({ residentMb }) => residentMb)),
        busy: {
          gateway: of(({ busy }) => busy.gateway),
          load: of(({ busy }) => busy.load),
          provider: of(({ busy }) => busy.provider),
        },
        failed: sum(failedOf),
        cut: sum(({ cut }) => cut),
        failure: group.find(({ failure }) => failure !== '')?.failure ?? '',
      },
    ]
  })
}
