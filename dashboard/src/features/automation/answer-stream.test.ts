import { expect, test } from 'bun:test'
import { ApiError } from '../../api/client'
import { piecesOf, type Piece } from './answer-stream'

const encoder = new TextEncoder()
const eventOf = (chunk: object) => `data: ${JSON.stringify(chunk)}\n\n`
const deltaOf = (delta: object) => eventOf({ choices: [{ delta }] })
const done = 'data: [DONE]\n\n'

/** A response whose body arrives in the given parts. */
function responseOf(...parts: readonly (string | Uint8Array<ArrayBuffer>)[]): Response {
  const body = new ReadableStream<Uint8Array<ArrayBuffer>>({
    start(controller) {
      for (const part of parts) {
        controller.enqueue(typeof part === 'string' ? encoder.encode(part) : part)
      }
      controller.close()
    },
  })
  return new Response(body)
}

/** Reads a response to its end, or to its error. */
async function readAll(response: Response): Promise<{ pieces: Piece[]; error: unknown }> {
  const pieces: Piece[] = []
  try {
    for await (const piece of piecesOf(response)) pieces.push(piece)
    return { pieces, error: undefined }
  } catch (error) {
    return { pieces, error }
  }
}

const textsOf = (pieces: readonly Piece[]) => pieces.map(({ text }) => text)

test('a stream that is split within its events yields each text once', async () => {
  const whole = deltaOf({ content: 'One' }) + deltaOf({ content: 'Two' }) + done
  for (let at = 1; at < whole.length; at += 7) {
    const { pieces, error } = await readAll(responseOf(whole.slice(0, at), whole.slice(at)))
    expect([textsOf(pieces), error]).toEqual([['One', 'Two'], undefined])
  }
})

test('a character that is split between two parts arrives whole', async () => {
  const bytes = encoder.encode(deltaOf({ content: 'Grüße' }) + done)
  const at = bytes.indexOf(0xc3) + 1
  const { pieces } = await readAll(responseOf(bytes.slice(0, at), bytes.slice(at)))
  expect(textsOf(pieces)).toEqual(['Grüße'])
})

test('a refusal is text, and reasoning is kept apart from it', async () => {
  const { pieces } = await readAll(
    responseOf(deltaOf({ reasoning_content: 'Hm.' }), deltaOf({ refusal: 'No.' }), done),
  )
  expect(pieces).toMatchObject([
    { text: '', reasoning: 'Hm.' },
    { text: 'No.', reasoning: '' },
  ])
})

test('tool calls and their results arrive as they were sent', async () => {
  const call = { index: 0, id: 'a', function: { name: 'add', arguments: '{}' } }
  const result = { tool_call_id: 'a', content: '2' }
  const { pieces } = await readAll(
    responseOf(deltaOf({ tool_calls: [call] }), eventOf({ tool_message: result }), done),
  )
  expect(pieces.map((piece) => [piece.call, piece.result])).toEqual([
    [call, undefined],
    [undefined, result],
  ])
})

test('keep-alive comments and chunks without choices yield no text', async () => {
  const { pieces, error } = await readAll(responseOf(': keep-alive\n\n', eventOf({}), done))
  expect([textsOf(pieces).join(''), error]).toEqual(['', undefined])
})

test('an error event rejects with its code, message and parameter', async () => {
  const problem = { code: 'provider_error', message: 'It broke.', param: 'model' }
  const { pieces, error } = await readAll(
    responseOf(deltaOf({ content: 'One' }), eventOf({ error: problem }), done),
  )
  expect(textsOf(pieces)).toEqual(['One'])
  expect(error).toBeInstanceOf(ApiError)
  expect(error).toMatchObject(problem)
})

test('a stream without its end event rejects as cut, after the part that arrived', async () => {
  const { pieces, error } = await readAll(responseOf(deltaOf({ content: 'One' })))
  expect(textsOf(pieces)).toEqual(['One'])
  expect(error).toMatchObject({ name: 'ApiError', code: 'cut', status: 0 })
})

test('a response without a body rejects as cut', async () => {
  expect((await readAll(new Response(null))).error).toMatchObject({ code: 'cut' })
})
