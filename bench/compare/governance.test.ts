import { expect, test } from 'bun:test'
import type { Figures } from './figures'
import { governanceReportOf } from './governance'
import type { Result } from './result'

const figuresOf = (subject: string, own: Partial<Figures>): Figures => ({
  subject,
  scenario: 'chat-64',
  rounds: 1,
  cpuPerRequest: 70,
  cpuPerRequestAll: 90,
  rate: 1000,
  eventsPerSecond: 0,
  p50: 2,
  p99: 5,
  addedP50: 1,
  addedP99: 2,
  firstByteP50: 1,
  residentMb: 100,
  busy: { gateway: 0.5, load: 0.1, provider: 0.1 },
  failed: 0,
  cut: 0,
  failure: '',
  ...own,
})

const result: Result = {
  at: '2026-11-30T00:00:00Z',
  machine: 'two cores',
  versions: 'Bun',
  rounds: 1,
  seconds: 1,
  participants: [
    {
      name: 'small',
      title: 'Small, bare',
      governance: { setting: 'bare' },
      startMs: 1,
      verdicts: [],
    },
    {
      name: 'large',
      title: 'Large, governed',
      governance: { setting: 'governed', keys: 'in PostgreSQL', services: 'PostgreSQL' },
      startMs: 1,
      verdicts: [],
    },
  ],
  missing: { absent: 'not installed' },
  scenarios: [{ name: 'chat-64', title: 'chat' }],
  figures: [
    figuresOf('small', {}),
    figuresOf('large', { cpuPerRequestAll: 250, failed: 3, failure: '503: late' }),
    figuresOf('large', { scenario: 'stream-10-200', cpuPerRequestAll: 4000 }),
  ],
}

/** Returns the parts of a report by their headings. */
const partsOf = (report: string) => report.split(/\n(?=## )/)

test('bare and governed gateways are in tables of their own, with the CPU of all their services', () => {
  const [, bare = '', governed = ''] = partsOf(governanceReportOf(result))
  expect(bare).toContain('| Small, bare | 90 | 70 | 1,000 | 1.00 | 2.00 | – | 100 |')
  expect(bare).not.toContain('Large')
  expect(governed).toContain('| Large, governed ¹ | 250 | 70 | 1,000 | 1.00 | 2.00 | 4,000 | 100 |')
})

test('the features of a gateway are listed, with a dash for each that it lacks', () => {
  expect(governanceReportOf(result)).toContain(
    '| Large, governed | in PostgreSQL | – | – | – | PostgreSQL |',
  )
})

test('failures and absent peers are named', () => {
  const report = governanceReportOf(result)
  expect(report).toContain('¹ large: 3 failed, 0 cut unfinished; 503: late')
  expect(report).toContain('- absent: not installed')
})
