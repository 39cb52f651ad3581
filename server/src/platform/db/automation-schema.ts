import type { ColumnType, Generated } from 'kysely'
import type { CreatedColumn, UpdatedColumn } from './column-types'

/** A list of strings in a JSON column. */
type Names = ColumnType<string[], string, string>
type MaybeNames = ColumnType<string[] | null, string | null, string | null>

/** A template from which sessions are created. */
export interface AutomationTemplateRow {
  id: string
  /** Null for the built-in templates. */
  user_id: string | null
  name: string
  description: string | null
  category: string | null
  system_prompt: string | null
  model_id: string | null
  enabled_tools: MaybeNames
  disabled_tools: Names
  initial_message: string | null
  variables: Names
  is_public: boolean
  usage_count: Generated<bigint>
  created_at: CreatedColumn
  updated_at: UpdatedColumn
}

/** A stored conversation. */
export interface AutomationSessionRow {
  id: string
  user_id: string
  name: string | null
  session_type: 'chat' | 'remote_chat' | 'automation'
  status: Generated<'active' | 'paused' | 'completed' | 'cancelled' | 'failed'>
  gateway_id: string | null
  model_id: string
  connection_id: string | null
  template_id: string | null
  system_prompt: string | null
  enabled_tools: MaybeNames
  disabled_tools: Names
  message_count: Generated<number>
  input_tokens: Generated<bigint>
  output_tokens: Generated<bigint>
  /** Nano-dollars. */
  cost: Generated<bigint>
  summary: string | null
  /** The running call. */
  running_id: string | null
  /** When the running call counts as dead unless its node renews this time. */
  running_until: Date | null
  last_activity_at: Date | null
  completed_at: Date | null
  created_at: CreatedColumn
  updated_at: UpdatedColumn
}

/** A message of a session. */
export interface AutomationMessageRow {
  id: string
  session_id: string
  user_id: string
  /** From 0, without gaps. */
  position: number
  role: 'user' | 'system' | 'assistant' | 'tool'
  content: string | null
  tool_calls: ColumnType<Record<string, unknown>[] | null, string | null, never>
  tool_call_id: string | null
  tokens: bigint
  created_at: CreatedColumn
}

export interface AutomationSchema {
  automation_template: AutomationTemplateRow
  automation_session: AutomationSessionRow
  automation_message: AutomationMessageRow
}
