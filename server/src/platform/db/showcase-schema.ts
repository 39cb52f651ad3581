import type { ColumnType, Generated } from 'kysely'
import type { CreatedColumn } from './column-types'

/** A model, or collection, that an account has marked as a favourite. */
export interface FavoriteRow {
  user_id: string
  /** The model name, as a request would name it. */
  model_id: string
  created_at: CreatedColumn
}

/** An account's rating of a model: one for each model. */
export interface RatingRow {
  id: string
  user_id: string
  model_id: string
  /** 1 to 5. */
  rating: number
  review: string | null
  created_at: CreatedColumn
  updated_at: ColumnType<Date, Date | undefined, Date>
}

/** The number of ratings of each kind that a model has; maintained by a trigger. */
export interface RatingSumRow {
  model_id: string
  rating: number
  ratings: bigint
}

/** The branding of the installation: one row. */
export interface BrandingRow {
  is_only: Generated<boolean>
  /** The fields that were set; the others have their defaults. */
  fields: ColumnType<object, string, string>
  updated_at: ColumnType<Date, Date | undefined, Date>
}

export interface ShowcaseSchema {
  model_favorite: FavoriteRow
  model_rating: RatingRow
  model_rating_sum: RatingSumRow
  branding: BrandingRow
}
