import { expect, test } from 'bun:test'
import { toHealthStatus } from './health'

const sound = (id: string) => ({ id, isFailing: false })
const refused = (id: string) => ({ id, isFailing: true })

test.each([
  ['it has no connection of the platform', [], {}, 'operational'],
  ['it had no request of late', [sound('a')], {}, 'operational'],
  ['all went well', [sound('a')], { a: { successes: 9, failures: 0 } }, 'operational'],
  [
    'two failures are too few to decide',
    [sound('a')],
    { a: { successes: 0, failures: 2 } },
    'operational',
  ],
  ['one in ten fails', [sound('a')], { a: { successes: 9, failures: 1 } }, 'operational'],
  ['one in five fails', [sound('a')], { a: { successes: 8, failures: 2 } }, 'degraded'],
  ['nothing succeeds', [sound('a')], { a: { successes: 0, failures: 3 } }, 'down'],
  [
    'another connection serves',
    [sound('a'), sound('b')],
    { a: { successes: 0, failures: 3 }, b: { successes: 3, failures: 0 } },
    'degraded',
  ],
  ['the key of one is rejected', [refused('a'), sound('b')], {}, 'degraded'],
  ['all keys are rejected', [refused('a')], { a: { successes: 9, failures: 0 } }, 'down'],
] as const)('%s', (...[, connections, fared, status]) => {
  expect(toHealthStatus(connections, new Map(Object.entries(fared)))).toBe(status)
})
