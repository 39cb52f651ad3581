import { describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import { metrics } from './exposition'
import { listSettings } from '../platform/config/setting'
import { telemetrySettings } from '../platform/config/telemetry'
import { valuesForTests } from '../../testing/request-logs/values'
import { toLogLine } from '../server/telemetry'

const root = join(import.meta.dir, '../../..')
const read = (path: string) => Bun.file(join(root, path)).text()
const guide = await read('docs/operate/observability.md')

/** The rows of the guide's table whose first heading is this. */
const rowsOf = (heading: string): string[][] => {
  const [, table = ''] = guide.split(new RegExp(`^\\| ${heading} \\|.*\\n\\|[-|]+\\n`, 'm'))
  const lines = table.slice(0, table.search(/^(?!\|)/m)).trimEnd()
  return lines.split('\n').map((line) =>
    line
      .split(/(?<!\\)\|/)
      .slice(1, -1)
      .map((cell) => cell.trim()),
  )
}

/** What stands in code in the first cells of a table. */
const namesIn = (heading: string): string[] =>
  rowsOf(heading).flatMap(([cell = '']) =>
    [...cell.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name),
  )

describe('the guide', () => {
  test('has each metric with its type and its labels', () => {
    expect(rowsOf('metric')).toEqual(
      metrics.map(({ name, type, labels, help }) => [
        `\`${name}\``,
        type,
        labels.map((label) => `\`${label}\``).join(', '),
        help,
      ]),
    )
  })

  test('has each label', () => {
    const labels = new Set(metrics.flatMap((metric) => metric.labels))
    expect(namesIn('label').toSorted()).toEqual([...labels].toSorted())
  })

  test('has each variable', () => {
    const names = listSettings(telemetrySettings).map(({ name }) => name)
    expect(namesIn('variable').toSorted()).toEqual(names.toSorted())
  })

  test('has each attribute of spans', async () => {
    const sources = await Promise.all(
      ['span-attributes', 'tracing'].map((name) => read(`server/src/telemetry/${name}.ts`)),
    )
    const written = sources
      .join('\n')
      .matchAll(/'((?:http|gen_ai|tollgate|enduser|error)\.[\w.]+)'/g)
    const names = new Set([...written].map(([, name = '']) => name))
    expect(namesIn('attribute').toSorted()).toEqual([...names].toSorted())
  })

  test('has each field of the line of a request', () => {
    const error = { type: '', code: 'x', message: '' }
    const fields = Object.keys(toLogLine(valuesForTests({ provider: 'x', error }), 1))
    expect(namesIn('field').toSorted()).toEqual(['level', 'time', ...fields].toSorted())
  })
})

/** The labels of each metric by its name. */
const labelsByName = new Map(
  metrics.flatMap(({ name, type, labels }) => {
    if (type !== 'histogram') return [[name, labels] as const]
    return ['_bucket', '_sum', '_count'].map(
      (part) => [name + part, part === '_bucket' ? [...labels, 'le'] : labels] as const,
    )
  }),
)
labelsByName.set('up', [])
/** What Prometheus adds. */
const added = ['instance', 'job']

/** Brackets that are not closed, and texts. */
function bracketFaults(plain: string): string[] {
  const faults: string[] = []
  const open: string[] = []
  for (const sign of plain.match(/[(){}[\]"]/g) ?? []) {
    const begins = { ')': '(', '}': '{', ']': '[' }[sign]
    if (begins === undefined) open.push(sign)
    else if (open.pop() !== begins) faults.push(`a ${sign} too many`)
  }
  return open.length > 0 ? [...faults, `${open.join(' ')} is not closed`] : faults
}

/** What one metric is asked for that it has not. */
function metricFaults(name: string, selector: string): string[] {
  const labels = labelsByName.get(name)
  if (!labels) return [`there is no ${name}`]
  return [...selector.matchAll(/(\w+)\s*(?:=~|!~|!=|=)/g)].flatMap(([, label = '']) =>
    [...labels, ...added].includes(label) ? [] : [`${name} has no ${label}`],
  )
}

/** What is wrong with an expression. */
function faultsOf(expression: string): string[] {
  const plain = expression.replaceAll(/"(?:[^"\\]|\\.)*"/g, 'text')
  const used = [...plain.matchAll(/\b((?:tollgate|process)_\w+|up\b)(?:\{([^}]*)\})?/g)]
  const known = new Set([
    ...used.flatMap(([, name = '']) => labelsByName.get(name) ?? []),
    ...added,
  ])
  const grouped = [...plain.matchAll(/\bby \(([^)]*)\)/g)].flatMap(([, by = '']) =>
    by.split(/,\s*/),
  )
  return [
    ...bracketFaults(plain),
    ...(used.length === 0 ? ['names no metric'] : []),
    ...used.flatMap(([, name = '', selector = '']) => metricFaults(name, selector)),
    ...grouped.filter((label) => !known.has(label)).map((label) => `nothing has ${label}`),
  ].map((fault) => `${expression}: ${fault}`)
}

/** All values of a key, however deep. */
function valuesOf(key: string, within: unknown): unknown[] {
  if (typeof within !== 'object' || within === null) return []
  return Object.entries(within).flatMap(([name, value]) =>
    name === key ? [value] : valuesOf(key, value),
  )
}

test('errors of an expression are found', () => {
  expect(faultsOf('sum by (code) (rate(tollgate_errors_total{code="x"}[5m]))')).toEqual([])
  for (const wrong of [
    'sum(tollgate_errors)',
    'sum(tollgate_errors_total',
    'tollgate_errors_total{model="x"}',
    'sum by (model) (tollgate_errors_total)',
    'tollgate_overhead_seconds',
    '1 > 0',
  ]) {
    expect(faultsOf(wrong)).not.toEqual([])
  }
})

/** What Prometheus's own check has against rules; Debian's package `prometheus` has it. */
function promtoolSays(path: string): string {
  if (Bun.which('promtool') === null) return ''
  const { exitCode, stderr } = Bun.spawnSync(['promtool', 'check', 'rules', join(root, path)])
  return exitCode === 0 ? '' : stderr.toString()
}

test.each(['deploy/prometheus/alerts.yml', 'deploy/grafana/tollgate.json'])(
  '%s queries existing metrics and labels',
  async (path) => {
    const text = await read(path)
    const parsed: unknown = path.endsWith('.json') ? JSON.parse(text) : Bun.YAML.parse(text)
    const expressions = valuesOf('expr', parsed).map(String)
    expect(expressions.length).toBeGreaterThan(10)
    expect(expressions.flatMap(faultsOf)).toEqual([])
    if (path.endsWith('.yml')) expect(promtoolSays(path)).toBe('')
  },
)

test('no alert lasts as long as a process lives, for values read once at its start', async () => {
  const rules: unknown = Bun.YAML.parse(await read('deploy/prometheus/alerts.yml'))
  const expressions = valuesOf('expr', rules).map(String)
  const ofStarts = expressions.filter((it) => it.includes('tollgate_orphans_found'))
  expect(ofStarts).toHaveLength(1)
  expect(ofStarts[0]).toMatch(/ and time\(\) - process_start_time_seconds\{.*\} < \d+$/)
})

test('the dashboard shows every metric', async () => {
  const text = await read('deploy/grafana/tollgate.json')
  const shown = metrics.filter(({ name }) => !text.includes(name)).map(({ name }) => name)
  expect(shown).toEqual([
    'tollgate_journal_running',
    'tollgate_audit_runs_total',
    'tollgate_stopping',
    'process_start_time_seconds',
  ])
})
