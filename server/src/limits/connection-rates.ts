import type { Counters, Granted, LimitRefusal } from './counters'
import { toRateLimitError } from './limits'
import { countMedia, type MediaNeed, type MediaUse } from './media-need'
import { windowMs } from './sliding-window'

/** The limits per minute of a connection; null for no limit. */
interface ConnectionLimits {
  rpm: number | null
  tpm: number | null
  imagesPerMinute: number | null
  audioSecondsPerMinute: number | null
}

interface LimitedConnection extends ConnectionLimits {
  id: string
}

/** The tokens that a request needs at most, and its images or seconds of sound. */
export interface ConnectionNeed {
  tokens: number
  media?: MediaNeed | undefined
}

/** The real use of a request that has ended. */
export interface ReportedUse {
  tokens: number
  media?: MediaUse | undefined
}

/** A window of one limit, and what a request takes of it. */
interface LimitWindow {
  name: string
  unit: string
  limit: number | null
  weight: number
  /** Returns what counts in the end; without it all of the weight. */
  count?: (use: ReportedUse) => number
}

const mediaWindows = {
  images: { name: 'images', unit: 'images' },
  audioSeconds: { name: 'audio-seconds', unit: 'seconds of sound' },
} as const

/** Whether a connection has a rate limit of its own; nearly none has. */
export const hasLimits = (limits: ConnectionLimits): boolean =>
  limits.rpm !== null ||
  limits.tpm !== null ||
  limits.imagesPerMinute !== null ||
  limits.audioSecondsPerMinute !== null

/** Counts requests to connections that have rates of their own. Source: contract 3.1. */
export class ConnectionRates {
  readonly #counters: Counters

  constructor(counters: Counters) {
    this.#counters = counters
  }

  /**
   * Counts a request, and reserves what it needs. Rejects with `rate_limit_exceeded`; counts nothing then. Resolves
   * with a function to call once it has ended, with what it used.
   */
  async admit(
    connection: LimitedConnection,
    need: ConnectionNeed,
  ): Promise<(use: ReportedUse) => void> {
    const grants: { grant: Granted; window: LimitWindow }[] = []
    for (const window of windowsOf(connection, need)) {
      const { name, unit, limit, weight } = window
      if (limit === null) continue
      const id = `connection-${name}:${connection.id}`
      const take = await this.#counters.take({ windows: [{ id, limit }], weight, running: [] })
      if (take.kind === 'refused') {
        for (const one of grants) one.grant.end(-one.window.weight)
        throw full(take, unit)
      }
      grants.push({ grant: take, window })
    }
    return (use) => {
      for (const { grant, window } of grants)
        if (window.count) grant.end(window.count(use) - window.weight)
    }
  }
}

function windowsOf(limits: ConnectionLimits, { tokens, media }: ConnectionNeed): LimitWindow[] {
  const windows: LimitWindow[] = [
    { name: 'requests', unit: 'requests', limit: limits.rpm, weight: 1 },
    {
      name: 'tokens',
      unit: 'tokens',
      limit: limits.tpm,
      weight: tokens,
      count: (use) => use.tokens,
    },
  ]
  if (!media) return windows
  const limit = media.unit === 'images' ? limits.imagesPerMinute : limits.audioSecondsPerMinute
  return [
    ...windows,
    {
      ...mediaWindows[media.unit],
      limit,
      weight: media.amount,
      count: (use) => countMedia(media, use.media ?? {}),
    },
  ]
}

function full(refusal: LimitRefusal, unit: string) {
  // Caps the wait of a request that never fits at the window.
  const waitMs = Math.min(refusal.waitMs, windowMs)
  const { limit } = refusal.reading
  return toRateLimitError(
    { ...refusal, waitMs },
    `The connection for this model accepts ${limit} ${unit} per minute. Retry after the time in Retry-After.`,
  )
}
