import type { ColumnType } from 'kysely'

/** The time of a row's creation: set once, by the database where the row does not name it. */
export type CreatedColumn = ColumnType<Date, Date | undefined, never>

/** The time of a row's last change. */
export type UpdatedColumn = ColumnType<Date, Date | undefined, Date>

/** Limits of images and of seconds of sound per minute; null for none, of an organization for its plan's. */
export interface MediaLimitColumns {
  images_per_minute: number | null
  audio_seconds_per_minute: number | null
}

/** A list of texts; null for none. */
export type ListColumn = ColumnType<
  string[] | null,
  readonly string[] | null | undefined,
  readonly string[] | null
>
