import { expect, test } from 'bun:test'
import { toHealthStatus } from './health'

const sound = (id: string) => ({ id, isFailing: false })
const refused = (id: string) => ({ id, isFailing: true })

test.each([
  ['nobody asks it by the platform', [], {}, 'operational'],
  ['nothing was asked of late', [sound('a')], {}, 'operational'],
  ['all went well', [sound('a')], { a: { good: 9, bad: 0 } }, 'operational'],
  ['two failures are too few to tell', [sound('a')], { a: { good: 0, bad: 2 } }, 'operational'],
  ['one in ten fails', [sound('a')], { a: { good: 9, bad: 1 } }, 'operational'],
  ['one in five fails', [sound('a')], { a: { good: 8, bad: 2 } }, 'degraded'],
  ['nothing succeeds', [sound('a')], { a: { good: 0, bad: 3 } }, 'down'],
  [
    'another connection serves',
    [sound('a'), sound('b')],
    { a: { good: 0, bad: 3 }, b: { good: 3, bad: 0 } },
    'degraded',
  ],
  ['the key of one is refused', [refused('a'), sound('b')], {}, 'degraded'],
  ['all keys are refused', [refused('a')], { a: { good: 9, bad: 0 } }, 'down'],
] as const)('%s', (...[, connections, fared, status]) => {
  expect(toHealthStatus(connections, new Map(Object.entries(fared)))).toBe(status)
})
