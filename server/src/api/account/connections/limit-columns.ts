import type { Selectable } from 'kysely'
import type { ConnectionRow } from '../../../platform/db/schema'

const names = ['rpm', 'tpm', 'images_per_minute', 'audio_seconds_per_minute'] as const

/** The limits per minute of a connection, as a request has them. */
export type ConnectionLimitFields = { [Name in (typeof names)[number]]?: number | null | undefined }

type LimitColumns = Pick<Selectable<ConnectionRow>, (typeof names)[number]>

/** Converts limits to columns: what is absent has no limit. */
export const toLimitColumns = (limits: ConnectionLimitFields = {}): LimitColumns => ({
  rpm: limits.rpm ?? null,
  tpm: limits.tpm ?? null,
  images_per_minute: limits.images_per_minute ?? null,
  audio_seconds_per_minute: limits.audio_seconds_per_minute ?? null,
})
