import { expect, test } from 'bun:test'
import { CrashAt } from './crash-at'

test('a crash is planned by its name and the time of coming there', () => {
  expect(CrashAt.parse('flush-before-commit')).toEqual({ point: 'flush-before-commit', nth: 1 })
  expect(CrashAt.parse('renew-mid:12')).toEqual({ point: 'renew-mid', nth: 12 })
})

test.each(['somewhere', 'renew-mid:0', 'renew-mid:', 'renew-mid:1:2', 'toString'])(
  'a crash at %p is rejected in a line that names the valid points',
  (text) => {
    const [issue] = CrashAt.safeParse(text).error?.issues ?? []
    expect(issue?.message).toStartWith('must be one of after-admit, ')
    expect(issue?.message).not.toContain('\n')
  },
)
