import { describe, expect, test } from 'bun:test'
import { decideReconnect } from './reconnect-decision'

const ending = { wasOpen: true, code: 1006, message: 'lost' }

describe('after a socket ended', () => {
  test.each([
    ['shutting down', { ...ending, code: 1001 }, 'at once'],
    ['revoked', { ...ending, code: 4401 }, 'never: 3'],
    ['replaced', { ...ending, code: 4409 }, 'never: 4'],
    ['closed for an error of ours', { ...ending, code: 4400 }, 'later'],
    ['silent for Tollgate', { ...ending, code: 4408 }, 'later'],
    ['lost', ending, 'later'],
    ['never opened', { ...ending, wasOpen: false }, 'later'],
    ['refused by its token', { ...ending, wasOpen: false, status: 401 }, 'never: 3'],
    ['of another version', { ...ending, wasOpen: false, status: 426 }, 'never: 5'],
    ['refused by a stopping node', { ...ending, wasOpen: false, status: 503 }, 'later'],
    ['refused by something else', { ...ending, wasOpen: false, status: 404 }, 'later'],
    // A close code counts only where there was a socket.
    ['closed before it opened', { wasOpen: false, code: 4401, message: '' }, 'later'],
  ] as const)('after %s', (_what, end, expected) => {
    const judged = decideReconnect(end)
    const { next } = judged
    expect(next === 'never' ? `never: ${judged.exitCode}` : next).toBe(expected)
    expect(judged.message).not.toBe('')
  })
})
