import { describe, expect, test } from 'bun:test'
import { checkContext, checkOutputLimit, type PromptSize } from './prompt-size'
import { sampleModel } from '../../testing/catalog/samples'
import { ApiError } from '../errors'

/** What was refused, undefined when nothing was. */
async function refusal(action: () => void | Promise<void>): Promise<ApiError | undefined> {
  try {
    await action()
  } catch (thrown) {
    if (thrown instanceof ApiError) return thrown
    throw thrown
  }
  return undefined
}

const limited = (limit: number, field = 'max_tokens'): PromptSize => ({
  textField: 'messages',
  output: { limit, field },
  texts: () => [],
  tokens: 0,
})

describe('the output limit', () => {
  test('may reach the maximum of the model, and is rejected above it', async () => {
    const model = sampleModel({ maxOutputTokens: 400 })
    expect(await refusal(() => checkOutputLimit(model, limited(400)))).toBeUndefined()
    const error = await refusal(() =>
      checkOutputLimit(model, limited(401, 'max_completion_tokens')),
    )
    expect(error).toMatchObject({
      status: 400,
      code: 'max_tokens_exceeded',
      param: 'max_completion_tokens',
      details: { max_allowed: 400, requested: 401 },
    })
  })

  test('is accepted if the model’s maximum is unknown, or none was sent', async () => {
    const unknown = sampleModel({ maxOutputTokens: null })
    expect(await refusal(() => checkOutputLimit(unknown, limited(1e9)))).toBeUndefined()
    const unsaid = { ...limited(0), output: undefined }
    expect(await refusal(() => checkOutputLimit(sampleModel(), unsaid))).toBeUndefined()
  })
})

const unread = () => {
  throw new Error('was read')
}

/** A token is between two and four bytes here, three as estimated; `counted` is what the counter says. */
function context(
  length: number | null | { context: number | null; prompt: number },
  counted: number | undefined,
  provider = 'fake',
) {
  const counts: (readonly string[])[] = []
  const ports = {
    maxTokens: (bytes: number) => Math.ceil(bytes / 2),
    atLeast: (bytes: number) => Math.floor(bytes / 4),
    count: async (texts: readonly string[]) => {
      counts.push(texts)
      return counted
    },
    estimate: (texts: readonly string[]) => texts.join('').length / 3,
  }
  const id = `${provider}/one`
  const { context: contextLength, prompt: maxInputTokens } =
    typeof length === 'object' && length !== null ? length : { context: length, prompt: null }
  const model = sampleModel({ contextLength, maxInputTokens, provider, id })
  const check = (text: string, fields: Partial<PromptSize & { bytes: number }> = {}) => {
    const prompt = { ...limited(0), output: undefined, texts: () => [text], ...fields }
    return refusal(() => checkContext(model, { bytes: Buffer.byteLength(text), ...prompt }, ports))
  }
  return { check, counts }
}

describe('the context', () => {
  test('a body that cannot be too long is neither read nor counted', async () => {
    const { check, counts } = context(1000, 9999)
    expect(await check('', { bytes: 2000, texts: unread })).toBeUndefined()
    expect(counts).toEqual([])
  })

  test('a long body with short texts, such as one with images, is not counted', async () => {
    const { check, counts } = context(1000, 9999)
    expect(await check('short', { bytes: 1e6 })).toBeUndefined()
    expect(counts).toEqual([])
  })

  test('rejects a prompt that is too long by any count without counting', async () => {
    const { check, counts } = context(1000, 1)
    const error = await check('x'.repeat(5300))
    expect(error).toMatchObject({
      status: 400,
      code: 'context_length_exceeded',
      param: 'messages',
      details: { max_context: 1000, requested: 1325 },
    })
    // Clients recognise the error by these words.
    expect(error?.message).toContain("This model's maximum context length is 1000 tokens")
    expect(counts).toEqual([])
  })

  test('near the limit the count decides, with a margin for another tokenizer than ours', async () => {
    const near = 'x'.repeat(3000)
    expect(await context(1000, 1300).check(near)).toBeUndefined()
    expect((await context(1000, 1301).check(near))?.details['requested']).toBe(1301)
    expect(await context(1000, 1000, 'openai').check(near)).toBeUndefined()
    expect((await context(1000, 1001, 'openai').check(near))?.details['requested']).toBe(1001)
  })

  test.each(['fake', 'openai'])(
    'S5: when a count takes too long the estimate decides, with a margin (%s)',
    async (provider) => {
      const { check } = context(1000, undefined, provider)
      expect(await check('x'.repeat(3900))).toBeUndefined()
      expect(await check('x'.repeat(3903))).toMatchObject({
        code: 'context_length_exceeded',
        details: { max_context: 1000, requested: 1301 },
      })
    },
  )

  test('the output limit and arrays of tokens take their room', async () => {
    const { check } = context(1000, 1, 'openai')
    expect(await check('', { tokens: 1000 })).toBeUndefined()
    expect((await check('', { tokens: 1001 }))?.details['requested']).toBe(1002)
    const output = { limit: 600, field: 'max_tokens' }
    expect(await check('', { tokens: 400, output })).toBeUndefined()
    expect((await check('', { tokens: 500, output }))?.details['requested']).toBe(1101)
  })

  test('bytes are counted, not characters', async () => {
    const { check, counts } = context(1000, 1)
    await check('€'.repeat(900))
    expect(counts).toHaveLength(1)
  })

  test('accepts any prompt where the context length is unknown', async () => {
    expect(await context(null, 1e9).check('x'.repeat(1e6))).toBeUndefined()
  })

  test('finding D9: a prompt and its answer share the context, of which a prompt may have a part', async () => {
    const { check } = context({ context: 1000, prompt: 700 }, 1, 'openai')
    const output = { limit: 600, field: 'max_tokens' }
    expect(await check('', { tokens: 400, output })).toBeUndefined()
    expect(await check('', { tokens: 700 })).toBeUndefined()
    // Too long beside the answer: the context is the limit.
    const together = await check('', { tokens: 600, output })
    expect(together?.details).toEqual({ max_context: 1000, requested: 1200 })
    // Too long by itself: the longest prompt is.
    const alone = await check('', { tokens: 800 })
    expect(alone).toMatchObject({ code: 'context_length_exceeded', param: 'messages' })
    expect(alone?.details).toEqual({ max_context: 700, requested: 801 })
    expect(alone?.message).toBe(
      "This model's maximum context length is 1000 tokens, of which a prompt has at most 700, and 801 were requested.",
    )
  })

  test('finding D9: the longest prompt is a limit where the context is unknown', async () => {
    const { check } = context({ context: null, prompt: 700 }, 1, 'openai')
    expect(await check('', { tokens: 700 })).toBeUndefined()
    expect((await check('', { tokens: 701 }))?.details['max_context']).toBe(700)
  })
})
