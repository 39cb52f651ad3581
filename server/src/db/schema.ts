import type { ColumnType, Generated } from 'kysely'

type Created = ColumnType<Date, Date | undefined, never>
type Updated = ColumnType<Date, Date | undefined, Date>

/** Who has an account. */
export interface UserRow {
  id: string
  email: string
  display_name: string
  status: Generated<'active' | 'suspended'>
  suspended_reason: string | null
  is_operator: Generated<boolean>
  plan_id: Generated<string>
  /** By quota type, the monthly spend as decimal text of nano-dollars; null lifts a limit. */
  limits: ColumnType<Record<string, unknown>, string | undefined, string>
  last_active_at: Date | null
  created_at: Created
  updated_at: Updated
}

/** What accounts may use; a limit that is null is none. */
export interface PlanRow {
  id: string
  name: string
  requests_per_minute: number | null
  tokens_per_minute: number | null
  max_concurrent_requests: number | null
  monthly_requests: number | null
  /** Nano-dollars. */
  monthly_spend: bigint | null
  max_org_members: Generated<number>
  /** New accounts get this one; there is always one. */
  is_default: Generated<boolean>
  created_at: Created
  updated_at: Updated
}

/** A service key; the secret itself is never stored. */
export interface ApiKeyRow {
  id: string
  user_id: string
  name: string
  /** First 12 characters of the secret, for people to tell keys apart. */
  key_prefix: string
  /** SHA-256 of the secret. */
  hash: Buffer
  permissions: ColumnType<string[], readonly string[], readonly string[]>
  expires_at: Date | null
  requests_per_minute: number | null
  tokens_per_minute: number | null
  max_concurrent_requests: number | null
  /** Nano-dollars. */
  monthly_spend_limit: bigint | null
  last_used_at: Date | null
  created_at: Created
}

/** A provider that an operator added. */
export interface ProviderRow {
  id: string
  key: string
  name: string
  dialect: string
  base_url: string | null
  auth_header: Generated<string>
  keyless: Generated<boolean>
  description: string | null
  website: string | null
  logo_url: string | null
  enabled: Generated<boolean>
  options: ColumnType<unknown, string, string>
  created_at: Created
  updated_at: Updated
}

/** A model that an operator added, or his changes to one of the catalogue. */
export interface ModelRow {
  id: string
  provider: string
  name: string
  upstream_model: string
  category: 'chat' | 'completion' | 'embedding'
  context_length: number | null
  max_output_tokens: number | null
  dimensions: number | null
  capabilities: ColumnType<unknown, string, string>
  /** Nano-dollars as decimal text by bucket, null for no price. */
  pricing: ColumnType<unknown, string | null, string | null>
  is_free: boolean
  enabled: boolean
  deprecated_at: Date | null
  created_at: ColumnType<Date, Date | undefined, Date>
  updated_at: Updated
}

/** A provider's address and credential. */
export interface ConnectionRow {
  id: string
  scope: 'platform' | 'individual' | 'organization'
  name: string
  provider: string
  endpoint_url: string | null
  /** The sealed credential, null where there is none. */
  secret: Buffer | null
  api_key_prefix: string | null
  /** What the provider's dialect needs to know of it. */
  options: ColumnType<unknown, string | undefined, string>
  status: Generated<'active' | 'inactive' | 'error'>
  is_default: Generated<boolean>
  priority: Generated<number>
  rpm: number | null
  tpm: number | null
  /** Names of models that the last test found. */
  models: ColumnType<string[], readonly string[] | undefined, readonly string[]>
  last_error: string | null
  last_tested_at: Date | null
  created_at: Created
  updated_at: Updated
}

export interface Schema {
  users: UserRow
  plan: PlanRow
  api_key: ApiKeyRow
  provider: ProviderRow
  model: ModelRow
  connection: ConnectionRow
}
