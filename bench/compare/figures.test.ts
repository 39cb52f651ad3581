import { expect, test } from 'bun:test'
import { figuresOf } from './figures'
import type { Sample } from './measure'
import { plotOf } from './plot'

const sampleOf = (own: Partial<Sample>): Sample => ({
  subject: 'tollgate',
  scenario: 'chat-64',
  round: 1,
  finished: 1000,
  disconnected: 0,
  cut: 0,
  failed: {},
  failure: '',
  events: 0,
  seconds: 1,
  complete: { p50: 2, p99: 5 },
  firstByte: { p50: 1, p99: 2 },
  rate: 1000,
  cpu: { own: 50, all: 60 },
  residentMb: 100,
  busy: { gateway: 0.5, load: 0.1, provider: 0.1 },
  ...own,
})

const taking = (value: number) => ({ complete: { p50: value, p99: value } })

test('added latency is that beyond the provider in the same round, by the median of rounds', () => {
  const samples = [1, 2, 3].flatMap((round) => [
    sampleOf({ subject: 'direct', round, ...taking(round) }),
    sampleOf({ round, ...taking(round === 2 ? 100 : round + 0.25) }),
  ])
  const own = figuresOf(samples).find(({ subject }) => subject === 'tollgate')
  expect(own).toMatchObject({ rounds: 3, addedP50: 0.25, addedP99: 0.25 })
})

test('a chunk costs the extra time of a stream over a plain request of the same round', () => {
  const stream = {
    scenario: 'stream-0-200',
    finished: 10,
    events: 1040,
    cpu: { own: 1090, all: 1200 },
  }
  const samples = [sampleOf({}), sampleOf(stream)]
  expect(figuresOf(samples).map(({ cpuPerChunk }) => cpuPerChunk)).toEqual([undefined, 10])
})

test('failures of all rounds are counted, and the first is reported', () => {
  const samples = [
    sampleOf({}),
    sampleOf({ round: 2, failed: { '503': 2, connection: 1 }, failure: '503: late' }),
  ]
  expect(figuresOf(samples)).toMatchObject([{ failed: 3, failure: '503: late' }])
})

test('a plot has a dot for each value, and escapes its labels', () => {
  const points = [
    { label: 'Tollgate, everything on', value: 60 },
    { label: 'a < b', value: 5000 },
  ]
  const svg = plotOf({ title: 'CPU', unit: 'µs', points })
  expect(svg.match(/<circle/g)).toHaveLength(2)
  expect(svg).toContain('a &lt; b')
  expect(svg).toContain('class="own"')
})
