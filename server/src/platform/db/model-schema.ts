import type { ColumnType, Generated } from 'kysely'
import type { CreatedColumn, UpdatedColumn } from './column-types'

/** A model that an operator added, or an operator's changes to one of the catalogue. */
export interface ModelRow {
  id: string
  provider: string
  name: string
  upstream_model: string
  category:
    | 'chat'
    | 'completion'
    | 'embedding'
    | 'moderation'
    | 'rerank'
    | 'image'
    | 'speech'
    | 'transcription'
  context_length: number | null
  /** The longest prompt, where that is shorter than the context; versions before 0057 write none. */
  max_input_tokens: Generated<number | null>
  max_output_tokens: number | null
  dimensions: number | null
  capabilities: ColumnType<unknown, string, string>
  /** Nano-dollars as decimal text by bucket; null for no price. */
  pricing: ColumnType<unknown, string | null, string | null>
  is_free: boolean
  enabled: boolean
  deprecated_at: Date | null
  created_at: ColumnType<Date, Date | undefined, Date>
  updated_at: UpdatedColumn
}

/** The price of a model from a time on; the latest price that has begun applies. */
export interface ModelPriceRow {
  model_id: string
  effective_at: Date
  /** As in `ModelRow`. */
  pricing: ColumnType<unknown, string | null, string | null>
  created_at: CreatedColumn
}

/** The provider's price for a model from a time on: the operator's, or that of a document that was applied. */
export interface ModelCostRow {
  model_id: string
  source: 'operator' | 'published'
  effective_at: Generated<Date>
  /** As in `ModelRow`. */
  pricing: ColumnType<unknown, string, string>
}
