import { describe, expect, test } from 'bun:test'
import { hashRequest, readKey } from './key'

const hash = (path: string, body: object) => hashRequest(path, body).toString('hex')

function thrownBy(work: () => unknown): unknown {
  try {
    return work()
  } catch (thrown) {
    return thrown
  }
}

describe('a key', () => {
  test('with 1 to 255 printable characters is accepted unchanged', () => {
    for (const key of ['a', ' ', '~', 'k'.repeat(255), 'a b"c,d']) expect(readKey(key)).toBe(key)
  })

  test('in any other form is rejected, naming its header', () => {
    for (const key of ['', 'k'.repeat(256), 'é', 'a\u007fb', 'a\tb', 'a\n', '\u0000']) {
      expect(thrownBy(() => readKey(key))).toMatchObject({
        status: 400,
        param: 'Idempotency-Key',
        details: { issue: 'bad_format' },
      })
    }
  })
})

describe('the hash of a request', () => {
  test('is the same for the same path and body', () => {
    expect(hash('/a', { x: 1, y: [2] })).toBe(hash('/a', { x: 1, y: [2] }))
  })

  test('differs with the path, with a value, and with where one ends and the other begins', () => {
    const all = [
      hash('/a', { x: 1 }),
      hash('/b', { x: 1 }),
      hash('/a', { x: 2 }),
      hash('/a', { x: '1' }),
      hash('/a', {}),
      hash('/a\n{}', {}),
    ]
    expect(new Set(all).size).toBe(all.length)
  })
})
