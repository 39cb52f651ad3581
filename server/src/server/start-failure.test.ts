import { expect, test } from 'bun:test'
import { openSync } from 'node:fs'
import { startFailureLine } from './start-failure'
import { StartError } from '../platform/config/config'
import { JournalError } from '../journal/error'

const errno = (code: string, path?: string) =>
  Object.assign(new Error(`${code}: words of the system`), { code, ...(path && { path }) })

test.each(['ENOSPC', 'EDQUOT', 'EROFS', 'EACCES', 'EPERM', 'EMFILE', 'ENFILE', 'ENOTDIR', 'EIO'])(
  'M9: %s is one line that names the path and the fix, at any depth',
  (code) => {
    const deep = new JournalError(
      'unwritten',
      new Error('x', { cause: errno(code, '/data/journal/1') }),
    )
    const line = startFailureLine(deep) ?? ''
    expect(line).toStartWith('tollgate: /data/journal/1: ')
    expect(line.split('\n')).toHaveLength(1)
    expect(line).not.toContain('words of the system')
  },
)

test('M9: a system error is one as well', () => {
  let thrown: unknown
  try {
    openSync('/dev/null/file', 'w')
  } catch (error) {
    thrown = error
  }
  expect(startFailureLine(thrown)).toMatch(
    /^tollgate: \/dev\/null\/file: a part of the path is no directory/,
  )
})

test('M9: a start error of several lines becomes one', () => {
  const line = startFailureLine(new StartError('initdb failed:\n  no space\r\n  left'))
  expect(line).toBe('tollgate: initdb failed: no space left')
})

test('M9: an error of the database is one line', () => {
  const refused = Object.assign(new Error('could not extend file: No space left on device'), {
    code: '53100',
    severity: 'ERROR',
  })
  expect(startFailureLine(new Error('migration', { cause: refused }))).toBe(
    'tollgate: The database refused the start: could not extend file: No space left on device (53100).',
  )
})

test('an error of the program itself keeps its stack', () => {
  expect(startFailureLine(new TypeError('x is undefined'))).toBeUndefined()
  expect(startFailureLine('text')).toBeUndefined()
})
