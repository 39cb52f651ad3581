import { expect, test } from 'bun:test'
import { FitCheck } from './fit-check'
import { sampleModel } from '../../testing/catalog/samples'
import type { TokenCounter } from '../metering/token-counter'

/** A counter that loads, is busy, or died: it says nothing. */
const counter: Pick<TokenCounter, 'count'> = { count: () => Promise.resolve(undefined) }

/** What a prompt of that many words comes to where a model reads 8,000 tokens. */
async function outcomeOf(words: number, provider: string): Promise<string> {
  const text = 'word '.repeat(words)
  const prompt = {
    textField: 'messages' as const,
    output: undefined,
    texts: () => [text],
    tokens: 0,
  }
  const fitCheck = new FitCheck(prompt, text.length, { counter })
  const model = sampleModel({ contextLength: 8000, provider, id: `${provider}/one` })
  return Promise.resolve(fitCheck.check(model)).then(
    () => 'fits',
    ({ code }: { code: string }) => code,
  )
}

test.each(['openai', 'fake'])(
  'S5: 40,002 tokens do not fit where 8,000 do, whether or not they could be counted (%s)',
  async (provider) => {
    expect(await outcomeOf(40_002, provider)).toBe('context_length_exceeded')
    expect(await outcomeOf(7000, provider)).toBe('fits')
  },
)
