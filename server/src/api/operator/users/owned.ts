/** A table with rows of an account, and their handling on export and erasure. */
export interface AccountTable {
  /** The column that finds its rows; `user_id` by default. */
  by?: 'id' | 'user_id' | 'account_id' | 'recipient' | 'email' | 'actor' | 'actor_id'
  /** The table of the account's rows that its rows belong to, and the column that refers to them. */
  through?: { table: string; column: string }
  /** Secrets and internal columns: never exported. */
  without?: readonly string[]
  /**
   * On erasure, `row` is deleted with the row of the user, `parent` with the row of `through`, `erased` separately, and `kept` stays without a name,
   * as its id alone identifies no person.
   */
  ends: 'row' | 'parent' | 'erased' | 'kept'
}

const withRow: AccountTable = { ends: 'row' }
const retainedRows: AccountTable = { ends: 'kept' }
const erased: AccountTable = { ends: 'erased' }

/** Lists every table with rows of an account. A table with a column `user_id` that is missing here fails a test. */
export const owned: Readonly<Record<string, AccountTable>> = {
  users: { by: 'id', ends: 'row' },
  api_key: { without: ['hash'], ends: 'row' },
  auth_session: { without: ['token'], ends: 'row' },
  auth_account: {
    without: ['access_token', 'refresh_token', 'id_token', 'password'],
    ends: 'row',
  },
  auth_two_factor: { without: ['secret', 'backup_codes'], ends: 'row' },
  identity_provider_session: { without: ['sid_hash'], ends: 'row' },
  membership: withRow,
  public_name: withRow,
  connection: {
    without: ['secret', 'secret_key_id', 'network_secret', 'network_secret_key_id'],
    ends: 'row',
  },
  gateway: { without: ['token_hash'], ends: 'row' },
  connection_pool: withRow,
  model_mapping: withRow,
  model_collection: withRow,
  model_favorite: withRow,
  model_rating: withRow,
  prompt: withRow,
  automation_template: withRow,
  automation_session: withRow,
  automation_message: withRow,
  stored_response: withRow,
  response_event: withRow,
  conversation: withRow,
  conversation_item: withRow,
  ticket: withRow,
  ticket_comment: { through: { table: 'ticket', column: 'ticket_id' }, ends: 'parent' },
  quota_request: withRow,
  budget: withRow,
  alert: withRow,
  alert_test: withRow,
  alert_trigger: { through: { table: 'alert', column: 'alert_id' }, ends: 'parent' },
  notification: withRow,
  notification_destination: { without: ['secret', 'secret_key_id'], ends: 'row' },
  notification_delivery: {
    through: { table: 'notification_destination', column: 'destination_id' },
    ends: 'parent',
  },
  invitation_mail: withRow,
  invitation: { by: 'email', ends: 'erased' },
  mail: { by: 'recipient', without: ['body'], ends: 'erased' },
  idempotency_key: { without: ['request_hash', 'claim_id', 'headers', 'body'], ends: 'row' },
  request_log: erased,
  request_body: erased,
  logged_bytes: erased,
  account_storage: withRow,
  request_minute: erased,
  request_peak: erased,
  request_sum: erased,
  request_tag_sum: erased,
  request_tag_set: erased,
  log_erasure: retainedRows,
  payment: retainedRows,
  usage_event: retainedRows,
  usage_sum: retainedRows,
  organization_sum: retainedRows,
  ledger_entry: { by: 'account_id', ends: 'kept' },
  // Exports the actions of an operator, without what they name of other accounts.
  audit_trail: { by: 'actor_id', without: ['object_id', 'concerned', 'sent'], ends: 'kept' },
  // Exports the account's own actions, without the addresses of other people that they name.
  organization_trail: { by: 'actor', without: ['object_name'], ends: 'kept' },
}
