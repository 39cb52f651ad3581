import { z } from 'zod'
import type { Transport } from '../../server/src/upstream/http/transport'
import type { Say } from './log'
import { wordsOf } from './words'

/** A model server in the OpenAI format, as configured or discovered. */
export interface ServerSettings {
  /** The id of the provider in Tollgate. */
  provider: string
  /** Without a trailing slash. */
  baseUrl: string
  apiKey?: string | undefined
  /** The only models that are announced and requested. */
  models?: readonly string[] | undefined
}

const List = z.object({ data: z.array(z.object({ id: z.string() })) })

const listMs = 10_000
export const connectMs = 3000
const mostListBytes = 8 * 1024 * 1024
const mostName = 200

/** A model server and the models that it has. */
export class ModelServer {
  readonly provider: string
  readonly baseUrl: string
  /** Sent with each request; one object, as connections remember it. */
  readonly headers: Readonly<Record<string, string>>
  readonly #allowed: ReadonlySet<string> | undefined
  #models: ReadonlySet<string> = new Set()
  /** Undefined before the first query; null when it answered; else the reason of the failure. */
  #failure: string | null | undefined

  constructor({ provider, baseUrl, apiKey, models }: ServerSettings) {
    this.provider = provider
    this.baseUrl = baseUrl
    this.headers = {
      'content-type': 'application/json',
      'accept-encoding': 'identity',
      'user-agent': 'tollgate-connect',
      ...(apiKey ? { authorization: `Bearer ${apiKey}` } : {}),
    }
    this.#allowed = models && new Set(models)
  }

  get models(): ReadonlySet<string> {
    return this.#models
  }

  /** The reason why it has no models; undefined where it answers. */
  get failure(): string | undefined {
    return this.#failure ?? undefined
  }

  serves(model: string): boolean {
    return this.#models.has(model)
  }

  /** Queries its models. A server that does not answer has none, which is logged once. Never rejects. */
  async ask(transport: Transport, say: Say): Promise<void> {
    try {
      this.#models = new Set((await this.#listed(transport)).filter((name) => this.#isGood(name)))
      this.#told(null, () =>
        say('info', 'server_answers', `${this.#name}: ${counted(this.#models.size)}`),
      )
    } catch (thrown) {
      this.#models = new Set()
      const words = wordsOf(thrown)
      this.#told(words, () =>
        say(
          'warn',
          'server_silent',
          `${this.#name} is unavailable, and its models with it: ${words}`,
        ),
      )
    }
  }

  get #name(): string {
    return `${this.provider} at ${this.baseUrl}`
  }

  #told(failure: string | null, say: () => void): void {
    const isNews = (this.#failure === null) !== (failure === null) || this.#failure === undefined
    this.#failure = failure
    if (isNews) say()
  }

  #isGood(name: string): boolean {
    return name.length > 0 && name.length <= mostName && (this.#allowed?.has(name) ?? true)
  }

  async #listed(transport: Transport): Promise<string[]> {
    const answer = await transport.send(
      {
        url: `${this.baseUrl}/models`,
        method: 'GET',
        headers: this.headers,
        signal: AbortSignal.timeout(listMs),
      },
      { connectMs },
    )
    // Some servers have no list; then the configured one counts.
    if ([404, 405].includes(answer.status) && this.#allowed) {
      answer.cancel()
      return [...this.#allowed]
    }
    if (answer.status !== 200) {
      answer.cancel()
      throw new Error(hintOf(answer.status))
    }
    const list = List.safeParse(jsonOf(await answer.text(mostListBytes)))
    if (!list.success) throw new Error('its answer to /models is not a list of models')
    return list.data.data.map(({ id }) => id)
  }
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const counted = (models: number) => (models === 1 ? '1 model' : `${models} models`)

function hintOf(status: number): string {
  const said = `it answered ${status} to /models`
  if (status === 401 || status === 403) return `${said}: its key is missing or wrong`
  return status === 404 ? `${said}: the base address usually ends in /v1` : said
}
