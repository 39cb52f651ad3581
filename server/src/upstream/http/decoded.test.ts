import { expect, test } from 'bun:test'
import type { Answer } from './answer'
import { decodeAnswer } from './decode-answer'

/** An answer of these bytes. */
function answerOf(bytes: Uint8Array): Answer {
  const pieces = [bytes]
  return {
    status: 200,
    headers: { get: () => null },
    read: async () => pieces.shift(),
    text: async () => '',
    cancel: () => {},
  }
}

test('an answer is read as its coding says', async () => {
  const zipped = Bun.gzipSync(Buffer.from('Hello'))
  expect(await decodeAnswer(answerOf(zipped), ' GZIP ').text()).toBe('Hello')
})

test.each(['compress', 'gzip, gzip', 'constructor', 'toString', '__proto__'])(
  'one in the coding %s fails when it is read',
  async (coding) => {
    const answer = decodeAnswer(answerOf(Buffer.from('Hello')), coding)
    await expect(answer.text()).rejects.toThrow('compressed in an unknown way')
  },
)
