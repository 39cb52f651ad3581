import type { ColumnType, Generated, GeneratedAlways } from 'kysely'
import type { CreatedColumn, UpdatedColumn } from './column-types'

/** A prompt that an account has saved. */
export interface PromptRow {
  id: string
  user_id: string
  title: string
  content: string
  description: string | null
  category: string | null
  tags: ColumnType<string[], readonly string[] | undefined, readonly string[]>
  is_favorite: Generated<boolean>
  usage_count: Generated<bigint>
  created_at: CreatedColumn
  updated_at: UpdatedColumn
}

/** An account's request for a higher limit. Limits are whole numbers; of `monthly_spend`, nano-dollars. */
export interface QuotaRequestRow {
  id: string
  user_id: string
  quota_type:
    | 'requests_per_minute'
    | 'tokens_per_minute'
    | 'images_per_minute'
    | 'audio_seconds_per_minute'
    | 'concurrent_requests'
    | 'monthly_requests'
    | 'monthly_spend'
  current_limit: bigint
  requested_limit: bigint
  granted_limit: bigint | null
  reason: string
  status: Generated<'pending' | 'approved' | 'rejected'>
  decision_note: string | null
  decided_at: Date | null
  created_at: CreatedColumn
}

/** A support ticket. Its current status is in `ticket_now`. */
export interface TicketRow {
  id: string
  number: GeneratedAlways<bigint>
  user_id: string
  subject: string
  description: string
  category: 'billing' | 'technical' | 'account' | 'api' | 'feature_request' | 'other'
  priority: 'low' | 'medium' | 'high' | 'urgent'
  status: Generated<'open' | 'in_progress' | 'waiting_on_customer' | 'resolved' | 'closed'>
  request_id: string | null
  /** The account of an operator. */
  assignee_id: string | null
  comment_count: Generated<number>
  resolved_at: Date | null
  closed_at: Date | null
  created_at: CreatedColumn
  updated_at: UpdatedColumn
}

export interface TicketCommentRow {
  id: string
  ticket_id: string
  author: 'user' | 'support'
  author_name: string
  content: string
  created_at: CreatedColumn
}

export interface SupportSchema {
  prompt: PromptRow
  quota_request: QuotaRequestRow
  ticket: TicketRow
  /** A view in which tickets that were resolved a week ago are closed. */
  ticket_now: TicketRow
  ticket_comment: TicketCommentRow
}
