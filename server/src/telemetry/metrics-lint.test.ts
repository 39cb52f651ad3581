import { expect, test } from 'bun:test'
import { metrics } from './exposition'

// The rules of `promtool check metrics` (promlint), which is on few machines.

const otherUnits =
  /(^|_)(milliseconds?|microseconds?|nanoseconds?|minutes?|hours?|days?|weeks?|kilobytes?|megabytes?|gigabytes?|terabytes?|kibibytes?|mebibytes?|gibibytes?|bits?|kilobits?|megabits?|percent|percents|fahrenheit|kelvin|grams?|kilograms?)(_|$)/
const abbreviations = /(^|_)(s|ms|us|ns|sec|b|kb|mb|gb|tb|pb|m|h|d)(_|$)/
const typesInNames = /(^|_)(counter|gauge|histogram|summary|untyped)(_|$)/

const faults = ({ name, type, help, labels }: (typeof metrics)[number]): string[] => {
  const rules: [boolean, string][] = [
    [help.trim() === '', 'no help text'],
    [!/^[a-z][a-z0-9_]*$/.test(name), 'not in snake case, or with a colon'],
    [otherUnits.test(name), 'a unit that is not the base unit'],
    [abbreviations.test(name), 'an abbreviated unit'],
    [typesInNames.test(name), 'its type in its name'],
    [(type === 'counter') !== name.endsWith('_total'), 'counters, and only they, end in _total'],
    [/_(bucket|sum|count)$/.test(name), 'a suffix that belongs to histograms'],
    [type !== 'histogram' && labels.includes('le'), 'the label "le", which belongs to histograms'],
    [labels.includes('quantile'), 'the label "quantile", which belongs to summaries'],
    [labels.some((label) => !/^[a-z][a-z0-9_]*$/.test(label)), 'a label not in snake case'],
    [new Set(labels).size < labels.length, 'a label twice'],
  ]
  return rules.flatMap(([isBroken, words]) => (isBroken ? [`${name}: ${words}`] : []))
}

test('N6: metrics follow the conventions that promtool checks', () => {
  expect(metrics.flatMap(faults)).toEqual([])
})

test('N6: no metric occurs twice, nor has the name of a part of another', () => {
  const parts = metrics.flatMap(({ name, type }) =>
    type === 'histogram' ? ['', '_bucket', '_sum', '_count'].map((end) => name + end) : [name],
  )
  expect(parts.filter((part, at) => parts.indexOf(part) !== at)).toEqual([])
})

test('N6: each rule finds its violation', () => {
  const bad = {
    name: 'tollgate_wait_ms',
    type: 'counter',
    help: ' ',
    labels: ['quantile'],
  } as const
  expect(faults({ ...bad, samples: () => [] })).toHaveLength(4)
})
