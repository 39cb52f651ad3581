import type { ColumnType, Generated } from 'kysely'
import type { AlertSchema } from './alert-schema'
import type { AuditDestinationSchema, AuditRetentionColumn } from './audit-destination-schema'
import type { BudgetSchema } from './budget-schema'
import type { AutomationSchema } from './automation-schema'
import type { GatewaySchema } from './gateway-schema'
import type { InvitationSchema } from './invitation-schema'
import type { InvoiceSchema } from './invoice-schema'
import type { LimitSchema } from './limit-schema'
import type { ModelCostRow, ModelPriceRow, ModelRow } from './model-schema'
import type { NameSchema } from './name-schema'
import type { ExpiryNoticeColumns, FailureNoticeColumn, NoticeSchema } from './notice-schema'
import type { LogExportSchema } from './log-export-schema'
import type { RequestLogSchema } from './request-log-schema'
import type { ResponseSchema } from './response-schema'
import type { RoleColumns, SettingsColumns, SettingsSchema } from './settings-schema'
import type { PaymentSchema } from './payment-schema'
import type { ScimSchema } from './scim-schema'
import type { ShowcaseSchema } from './showcase-schema'
import type { SupportSchema } from './support-schema'
import type { SignInSchema } from './sign-in-schema'
import type { TrailSchema } from './trail-schema'
import type { CreatedColumn, ListColumn, MediaLimitColumns, UpdatedColumn } from './column-types'
import type { AccessListName } from '../access-lists'

/** An account of a user. */
export interface UserRow extends SettingsColumns, RoleColumns {
  id: string
  email: string
  display_name: string
  status: Generated<'active' | 'suspended'>
  suspended_reason: string | null
  plan_id: Generated<string>
  /** By quota type; the monthly spend is nano-dollars as decimal text; null lifts a limit. */
  limits: ColumnType<Record<string, unknown>, string | undefined, string>
  last_active_at: Date | null
  /** Whether its request logs store bodies. */
  log_bodies: Generated<boolean>
  /** Mail is sent to verified addresses only. */
  email_verified: Generated<boolean>
  created_at: CreatedColumn
  updated_at: UpdatedColumn
}

/** The limits of accounts on a plan; null means no limit. */
export interface PlanRow extends MediaLimitColumns {
  id: string
  name: string
  requests_per_minute: number | null
  tokens_per_minute: number | null
  max_concurrent_requests: number | null
  monthly_requests: number | null
  /** Nano-dollars. */
  monthly_spend: bigint | null
  max_org_members: Generated<number>
  /** Requests of its accounts on the platform's connections are metered, and not charged. */
  house_pays: Generated<boolean>
  /** The plan of new accounts; exactly one plan is the default. */
  is_default: Generated<boolean>
  created_at: CreatedColumn
  updated_at: UpdatedColumn
}

/** The lists of what a key may call; null for one that it does not have. */
type AccessListColumns = Record<AccessListName, ListColumn>

/** A service key; the secret itself is never stored. */
export interface ApiKeyRow extends AccessListColumns, MediaLimitColumns, ExpiryNoticeColumns {
  id: string
  user_id: string
  name: string
  /** The first 12 characters of the secret, by which people recognize a key. */
  key_prefix: string
  /** SHA-256 of the secret. */
  hash: Buffer
  permissions: ColumnType<('read' | 'write' | 'admin')[], readonly string[], readonly string[]>
  expires_at: Date | null
  requests_per_minute: number | null
  tokens_per_minute: number | null
  max_concurrent_requests: number | null
  /** Nano-dollars. */
  monthly_spend_limit: bigint | null
  last_used_at: Date | null
  /** The address of a request of about that time. */
  last_used_address: string | null
  /** Null for an enabled key. */
  disabled_at: Date | null
  /** The end of a disabled key's pause, null until it is enabled. */
  disabled_until: Date | null
  /** Addresses and networks; null for all. */
  allowed_addresses: ListColumn
  /** Tags of all requests with the key; null for none. */
  tags: ListColumn
  created_at: CreatedColumn
}

/** A secret of a key that a rotation has replaced, and that is valid until it expires. */
export interface PreviousSecretRow extends ExpiryNoticeColumns {
  /** SHA-256 of the secret. */
  hash: Buffer
  key_id: string
  /** The first 12 characters of the secret. */
  key_prefix: string
  expires_at: Date
  created_at: CreatedColumn
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
  created_at: CreatedColumn
  updated_at: UpdatedColumn
}

/** An organization: a company or group that shares connections and credit. Amounts are nano-dollars. */
export interface OrganizationRow extends MediaLimitColumns, AuditRetentionColumn {
  id: string
  name: string
  description: string | null
  website: string | null
  provider_kind: 'cloud_provider' | 'enterprise_it' | 'research_institution' | 'startup' | null
  is_public: Generated<boolean>
  status: Generated<'active' | 'suspended'>
  plan_id: Generated<string>
  /** Null for the limit of the plan. */
  member_limit: number | null
  allow_join_requests: Generated<boolean>
  auto_approve_requests: Generated<boolean>
  /** Domains of e-mail addresses, in lower case. */
  auto_approve_domains: ColumnType<string[], readonly string[] | undefined, readonly string[]>
  requests_per_minute: Generated<number>
  tokens_per_minute: Generated<number>
  max_concurrent_requests: Generated<number>
  monthly_spend_limit: bigint | null
  default_member_spending_limit: bigint | null
  billing_email: string
  created_at: CreatedColumn
  updated_at: UpdatedColumn
}

/** A member of an organization; only an active membership counts. */
export interface MembershipRow {
  organization_id: string
  user_id: string
  role: 'owner' | 'admin' | 'developer' | 'viewer' | 'member'
  status: 'pending' | 'active' | 'suspended'
  is_primary: Generated<boolean>
  department: string | null
  /** Nano-dollars a month. */
  spending_limit: bigint | null
  message: string | null
  joined_at: Date | null
  scim_directory_id: string | null
  created_at: CreatedColumn
}

/** A handle or a slug: unique, with one owner. */
export interface PublicNameRow {
  name: string
  user_id: string | null
  organization_id: string | null
  /** The time at which its owner took it. */
  updated_at: UpdatedColumn
}

type BillingMode = 'org_pays' | 'member_pays'

/** A provider's address and credential. */
export interface ConnectionRow extends FailureNoticeColumn {
  id: string
  scope: 'platform' | 'individual' | 'organization'
  /** The owner where the scope is `individual`, else null. */
  user_id: string | null
  /** The owner where the scope is `organization`, else null; its billing mode is set then too. */
  organization_id: string | null
  billing_mode: BillingMode | null
  /** 2: Tollgate calls the provider; 3: a self-hosted gateway does. */
  gateway_type: Generated<2 | 3>
  /** The gateway of a connection of type 3; null once that gateway was deleted. */
  gateway_id: string | null
  name: string
  provider: string
  endpoint_url: string | null
  /** The sealed credential; null if there is none. */
  secret: Buffer | null
  /** The id of the key that wraps the secret's data key; null for secrets that predate these ids. */
  secret_key_id: string | null
  api_key_prefix: string | null
  /** Options of the provider's dialect. */
  options: ColumnType<unknown, string | undefined, string>
  /** Certificates, proxy and headers; what of them is secret is sealed in the next column. */
  network: ColumnType<unknown, string | undefined, string>
  network_secret: Buffer | null
  network_secret_key_id: string | null
  status: Generated<'active' | 'inactive' | 'error'>
  is_default: Generated<boolean>
  priority: Generated<number>
  rpm: number | null
  tpm: number | null
  images_per_minute: number | null
  audio_seconds_per_minute: number | null
  /** The number of models that the last test found. */
  model_count: Generated<number>
  last_error: string | null
  last_tested_at: Date | null
  created_at: CreatedColumn
  updated_at: UpdatedColumn
}

/** A model that a test of the connection found, and that is not in the catalogue. */
export interface ConnectionModelRow {
  connection_id: string
  name: string
  found_at: CreatedColumn
}

/** The price that an owner charges for such a model from a time on; the latest applies. */
export interface ConnectionModelPriceRow {
  connection_id: string
  name: string
  sequence: Generated<bigint>
  /** As in `ModelRow`. */
  pricing: ColumnType<unknown, string | null, never>
  created_at: CreatedColumn
}

/** A pool: connections of one provider and owner among which requests are balanced. */
export interface ConnectionPoolRow {
  id: string
  name: string
  provider: string
  scope: 'individual' | 'organization'
  user_id: string | null
  organization_id: string | null
  billing_mode: BillingMode | null
  strategy: 'priority' | 'round_robin' | 'least_used' | 'random'
  enabled: Generated<boolean>
  created_at: CreatedColumn
  updated_at: UpdatedColumn
}

export interface ConnectionPoolMemberRow {
  pool_id: string
  connection_id: string
  /** From 0. */
  position: number
}

export interface Schema
  extends
    NoticeSchema,
    RequestLogSchema,
    LogExportSchema,
    ResponseSchema,
    SettingsSchema,
    PaymentSchema,
    AlertSchema,
    BudgetSchema,
    ShowcaseSchema,
    SupportSchema,
    SignInSchema,
    ScimSchema,
    InvitationSchema,
    InvoiceSchema,
    AutomationSchema,
    GatewaySchema,
    LimitSchema,
    NameSchema,
    TrailSchema,
    AuditDestinationSchema {
  users: UserRow
  plan: PlanRow
  api_key: ApiKeyRow
  previous_secret: PreviousSecretRow
  provider: ProviderRow
  model: ModelRow
  model_price: ModelPriceRow
  model_cost: ModelCostRow
  connection: ConnectionRow
  organization: OrganizationRow
  membership: MembershipRow
  public_name: PublicNameRow
  connection_model: ConnectionModelRow
  connection_model_price: ConnectionModelPriceRow
  connection_pool: ConnectionPoolRow
  connection_pool_member: ConnectionPoolMemberRow
}
