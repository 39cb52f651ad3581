import type { Generated, GeneratedAlways } from 'kysely'
import type { CreatedColumn, UpdatedColumn } from './column-types'

/** An account's own name for a model (an alias). */
export interface ModelMappingRow {
  id: string
  user_id: string
  source_pattern: string
  target_model: string
  priority: Generated<number>
  enabled: Generated<boolean>
  description: string | null
  created_at: CreatedColumn
  updated_at: UpdatedColumn
}

/** A group of models under one name. */
export interface ModelCollectionRow {
  id: string
  scope: 'individual' | 'organization' | 'system'
  /** The owner where the scope is `individual`, else null. */
  user_id: string | null
  /** The owner where the scope is `organization`, else null. */
  organization_id: string | null
  name: string
  display_name: string | null
  description: string | null
  routing_strategy:
    | 'priority'
    | 'round_robin'
    | 'least_used'
    | 'random'
    | 'lowest_cost'
    | 'lowest_latency'
    | 'weighted'
  enabled: Generated<boolean>
  created_at: CreatedColumn
  updated_at: UpdatedColumn
}

export interface ModelCollectionMemberRow {
  collection_id: string
  model_id: string
  priority: number
  weight: Generated<number>
  enabled: Generated<boolean>
  /** Increases with each member that is added. */
  position: GeneratedAlways<bigint>
  added_at: CreatedColumn
}

export interface NameSchema {
  model_mapping: ModelMappingRow
  model_collection: ModelCollectionRow
  model_collection_member: ModelCollectionMemberRow
}
