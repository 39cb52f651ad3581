import { z } from 'zod'
import type { Transport } from '@tollgate/server/upstream/http/transport'
import type { Log } from './log'
import { toErrorText } from './text'

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
const maxListBytes = 8 * 1024 * 1024
const maxNameLength = 200

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
  async refreshModels(transport: Transport, log: Log): Promise<void> {
    try {
      this.#models = new Set(
        (await this.#listed(transport)).filter((name) => this.#isValidName(name)),
      )
      this.#reportOnChange(null, () =>
        log('info', 'server_answers', `${this.#name}: ${formatCount(this.#models.size)}`),
      )
    } catch (thrown) {
      this.#models = new Set()
      const message = toErrorText(thrown)
      this.#reportOnChange(message, () =>
        log(
          'warn',
          'server_silent',
          `${this.#name} is unavailable, and its models with it: ${message}`,
        ),
      )
    }
  }

  get #name(): string {
    return `${this.provider} at ${this.baseUrl}`
  }

  #reportOnChange(failure: string | null, log: () => void): void {
    const isNews = (this.#failure === null) !== (failure === null) || this.#failure === undefined
    this.#failure = failure
    if (isNews) log()
  }

  #isValidName(name: string): boolean {
    return name.length > 0 && name.length <= maxNameLength && (this.#allowed?.has(name) ?? true)
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
    const list = List.safeParse(jsonOf(await answer.text(maxListBytes)))
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

const formatCount = (models: number) => (models === 1 ? '1 model' : `${models} models`)

function hintOf(status: number): string {
  const text = `it answered ${status} to /models`
  if (status === 401 || status === 403) return `${text}: its key is missing or wrong`
  return status === 404 ? `${text}: the base address usually ends in /v1` : text
}
