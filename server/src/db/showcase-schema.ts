import type { ColumnType, Generated } from 'kysely'

type Created = ColumnType<Date, Date | undefined, never>

/** A model, or collection, that an account wants to find again. */
export interface FavoriteRow {
  user_id: string
  /** What a call would name. */
  model_id: string
  created_at: Created
}

/** What an account thinks of a model: one each. */
export interface RatingRow {
  id: string
  user_id: string
  model_id: string
  /** 1 to 5. */
  rating: number
  review: string | null
  created_at: Created
  updated_at: ColumnType<Date, Date | undefined, Date>
}

/** How many ratings of a kind a model has; kept by a trigger. */
export interface RatingSumRow {
  model_id: string
  rating: number
  ratings: bigint
}

/** How the installation presents itself: one row. */
export interface BrandingRow {
  is_only: Generated<boolean>
  /** What was set; the rest has its default. */
  fields: ColumnType<object, string, string>
  updated_at: ColumnType<Date, Date | undefined, Date>
}

export interface ShowcaseSchema {
  model_favorite: FavoriteRow
  model_rating: RatingRow
  model_rating_sum: RatingSumRow
  branding: BrandingRow
}
