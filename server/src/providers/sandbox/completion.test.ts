import { expect, test } from 'bun:test'
import { answer } from '.'

const complete = (body: object) =>
  answer({ path: '/completions', body, signal: new AbortController().signal })

const read = async (response: Response) => JSON.parse(await response.text())

const choice = (index: number, text: string) => ({
  index,
  text,
  logprobs: null,
  finish_reason: 'stop',
})

test('has a choice for each prompt and n, in that order', async () => {
  const body = await read(complete({ model: 'echo', prompt: ['one', 'two three'], n: 2 }))
  expect(body).toMatchObject({
    object: 'text_completion',
    choices: [choice(0, 'one'), choice(1, 'one'), choice(2, 'two three'), choice(3, 'two three')],
    usage: { prompt_tokens: 3, completion_tokens: 6, total_tokens: 9 },
  })
})

test('echo puts the prompt in front, alone when no token is wanted', async () => {
  const fields = { model: 'lorem', prompt: 'Once', echo: true }
  const one = await read(complete({ ...fields, max_tokens: 1 }))
  expect(one.choices[0].text).toMatch(/^Once\w+$/)
  const none = await read(complete({ ...fields, max_tokens: 0 }))
  expect(none.choices[0]).toMatchObject({ text: 'Once', finish_reason: 'length' })
  expect(none.usage).toEqual({ prompt_tokens: 1, completion_tokens: 0, total_tokens: 1 })
})

test('streams pieces of text, the finish reason last', async () => {
  const options = { stream: true, stream_options: { include_usage: true } }
  const text = await complete({ model: 'lorem', prompt: 'x', max_tokens: 9, ...options }).text()
  const blocks = text.split('\n\n').filter((block) => block !== '')
  expect(blocks.pop()).toBe('data: [DONE]')
  const chunks = blocks.map((block) => JSON.parse(block.slice('data: '.length)))
  expect(chunks.every(({ object }) => object === 'text_completion')).toBe(true)
  expect(chunks.pop()).toMatchObject({ choices: [], usage: { completion_tokens: 9 } })
  const reasons = chunks.map(({ choices }) => choices[0].finish_reason)
  expect(reasons).toEqual([...reasons.slice(1).map(() => null), 'length'])
})

test.each([[[1, 2, 3]], [[[1], [2]]], [''], [[]], [undefined]])(
  'a prompt of %p is rejected',
  async (prompt) => {
    const response = complete({ model: 'echo', prompt })
    expect(response.status).toBe(400)
    expect(await response.json()).toMatchObject({
      error: { type: 'invalid_request_error', param: 'prompt' },
    })
  },
)
