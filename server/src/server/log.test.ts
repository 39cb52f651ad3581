import { describe, expect, test } from 'bun:test'
import { toLogged } from './log'
import { ApiError, errors, invalidRequest } from '../errors'
import { UpstreamError } from '../providers/upstream-error'
import { AttemptFailed } from '../upstream/attempt-failed'

const foreign = 'canary: the text of a prompt'

const thrownBy = (run: () => unknown): unknown => {
  try {
    return run()
  } catch (thrown) {
    return thrown
  }
}

const provider = new ApiError('provider_error', {
  message: `openai returned an error: ${foreign}`,
  details: { provider: 'openai', provider_error: foreign },
})
const refused = invalidRequest('messages', 'refused_by_provider', foreign)
const unread = thrownBy(() => JSON.parse(`{"choices": canary}`))
const statement = Object.assign(new Error('invalid input syntax for type integer: "canary"'), {
  severity: 'ERROR',
})

describe('an error in the log contains no text of others', () => {
  test.each<[string, unknown, string]>([
    ['a provider that failed', provider, errors.provider_error.message],
    ['a provider that refused', refused, errors.invalid_request.message],
    ['a failed attempt', new AttemptFailed(refused, false), errors.invalid_request.message],
    ['invalid JSON', unread, 'JSON Parse error: Unexpected identifier "[value]"'],
    ['a statement', statement, 'invalid input syntax for type integer: [value]'],
  ])('%s', (_what, error, words) => {
    const logged = toLogged(error)
    expect(logged).toMatchObject({ message: words, stack: expect.stringContaining(words) })
    expect(JSON.stringify(logged)).not.toContain('canary')
    const outer = toLogged(new Error('It failed.', { cause: error }))
    expect(outer).toMatchObject({ message: 'It failed.', cause: words })
    expect(JSON.stringify(outer)).not.toContain('canary')
  })

  test('its stack still shows the place of the error', () => {
    expect(toLogged(refused)).toMatchObject({ stack: expect.stringContaining('log.test.ts') })
  })

  test('our own words stay, and values that are not errors', () => {
    expect(toLogged(new Error('a "name" of ours'))).toMatchObject({ message: 'a "name" of ours' })
    expect(toLogged({ attempts: 2 })).toEqual({ attempts: 2 })
    const refusal = new UpstreamError(500, 'a canary')
    expect(toLogged(refusal)).toEqual({ providerStatus: 500 })
  })
})
