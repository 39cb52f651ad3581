/** A table with rows of an account, and their handling on export and erasure. */
interface Owned {
  /** The column that finds its rows; `user_id` by default. */
  by?: 'id' | 'account_id' | 'recipient' | 'email' | 'actor'
  /** Secrets and internal columns: never exported. */
  without?: readonly string[]
  /**
   * On erasure, `row` is deleted with the row of the user, `erased` separately, and `kept` stays without a name,
   * as its id alone identifies no person.
   */
  ends: 'row' | 'erased' | 'kept'
}

const withRow: Owned = { ends: 'row' }
const retainedRows: Owned = { ends: 'kept' }
const erased: Owned = { ends: 'erased' }

/** Lists every table with rows of an account. A table with a column `user_id` that is missing here fails a test. */
export const owned: Readonly<Record<string, Owned>> = {
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
  quota_request: withRow,
  budget: withRow,
  alert: withRow,
  alert_test: withRow,
  notification: withRow,
  notification_destination: { without: ['secret', 'secret_key_id'], ends: 'row' },
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
  company: { by: 'account_id', ends: 'erased' },
  invoice: { by: 'account_id', ends: 'kept' },
  invoice_line: { by: 'account_id', ends: 'kept' },
  saved_view: withRow,
  usage_event: retainedRows,
  usage_sum: retainedRows,
  organization_sum: retainedRows,
  ledger_entry: { by: 'account_id', ends: 'kept' },
  // Exports the account's own actions, without the addresses of other people that they name.
  organization_trail: { by: 'actor', without: ['object_name'], ends: 'kept' },
}
