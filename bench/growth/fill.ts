import type { SQL } from 'bun'
import { hashOf, newApiKey, keyPrefix } from '../../server/src/auth/api-key'

/** Returns the SQL of a generated account id, in the shape of a real one. */
const accountId = (number: string) => `'user_' || lpad(to_hex(${number}), 26, '0')`

/** Inserts accounts with 10 USD each, booked like a bonus. */
export async function fillAccounts(sql: SQL, count: number): Promise<void> {
  await sql.unsafe(`
    insert into users (id, email, display_name)
    select ${accountId('n')}, 'growth-' || n || '@example.com', 'growth ' || n
    from generate_series(1, ${count}) as n`)
  await sql.unsafe(`
    insert into ledger_transaction (id, kind, external_ref, description)
    select 'txn_' || lpad(to_hex(n), 26, '0'), 'bonus', 'growth:' || n, 'growth'
    from generate_series(1, ${count}) as n`)
  const amount = 10_000_000_000n
  await sql.unsafe(`
    insert into ledger_entry (transaction_id, account_id, amount, balance_after)
    select 'txn_' || lpad(to_hex(n), 26, '0'), a.id, a.amount, a.rest
    from generate_series(1, ${count}) as n, lateral (values
      (${accountId('n')}, ${amount}::bigint, ${amount}::bigint),
      ('house:promo', -${amount}::bigint, null)
    ) as a (id, amount, rest)`)
  await sql.unsafe(`
    update credit_account set posted = ${amount}
    where id in (select ${accountId('n')} from generate_series(1, ${count}) as n)`)
  await sql.unsafe('analyze')
}

/**
 * Inserts keys, distributed over the first `accounts` accounts in turn. The first `asking` keys are usable and
 * returned; of the others there is only a hash.
 */
export async function fillKeys(
  sql: SQL,
  { count, accounts, concurrency }: { count: number; accounts: number; concurrency: number },
): Promise<string[]> {
  const keys = Array.from({ length: concurrency }, newApiKey)
  const columns = 'id, user_id, name, key_prefix, hash, permissions'
  const owner = accountId(`(n - 1) % ${accounts} + 1`)
  const used = keys.map((key, at) => `(${at + 1}, '${hashOf(key)}', '${keyPrefix(key)}')`).join()
  await sql.unsafe(`
    insert into api_key (${columns})
    select 'key_' || lpad(to_hex(n), 26, '0'), ${owner}, 'growth', shown, decode(hash, 'hex'), '{read,write}'
    from (values ${used}) as it (n, hash, shown)`)
  await sql.unsafe(`
    insert into api_key (${columns})
    select 'key_' || lpad(to_hex(n), 26, '0'), ${owner}, 'growth', 'sk-tg-growth',
      sha256(convert_to('growth ' || n, 'UTF8')), '{read,write}'
    from generate_series(${concurrency + 1}, ${count}) as n`)
  await sql.unsafe('analyze api_key')
  return keys
}

/** Inserts copies of an existing model. */
export async function fillModels(sql: SQL, id: string, count: number): Promise<void> {
  await sql.unsafe(`
    insert into model (id, provider, name, upstream_model, category, context_length, capabilities,
      pricing, is_free, enabled)
    select provider || '/growth-' || n, provider, 'growth ' || n, upstream_model, category,
      context_length, capabilities, pricing, is_free, enabled
    from model, generate_series(1, ${count}) as n where model.id = '${id}'`)
}

const dayMs = 86_400_000
const days = 30
const dayOf = (ms: number) => new Date(ms).toISOString().slice(0, 10)

/** Inserts logs of the last 30 days, distributed over the first `accounts` accounts in turn. */
export async function fillLogs(sql: SQL, count: number, accounts: number): Promise<void> {
  const each = Math.ceil(count / days)
  for (let ago = 0; ago < days; ago++) {
    const ms = Date.now() - ago * dayMs
    const [from, to] = [`${dayOf(ms)} 00:00+00`, `${dayOf(ms + dayMs)} 00:00+00`]
    await sql.unsafe(`
      create table if not exists request_log_${dayOf(ms).replaceAll('-', '')}
      partition of request_log for values from ('${from}') to ('${to}')`)
    await sql.unsafe(`
      insert into request_log (id, started_at, user_id, key_id, method, endpoint, streamed,
        requested_model, model, provider, status, status_code, latency_ms, input_tokens, output_tokens,
        estimated, cost, platform_fee, billing_mode, concurrent, ip_address, user_agent)
      select 'req_' || lpad(to_hex(${ago * each} + n), 26, '0'),
        timestamptz '${from}' + n * interval '1 day' / ${each + 1},
        ${accountId(`n % ${accounts} + 1`)}, 'key_' || lpad(to_hex(n % ${accounts} + 1), 26, '0'),
        'POST', '/v1/chat/completions', false, 'fake/ok', 'fake/ok', 'fake', 'success', 200, 12, 20, 10,
        false, 60000, 0, 'platform', 1, '127.0.0.1', 'growth'
      from generate_series(1, ${each}) as n`)
  }
  await sql.unsafe('analyze request_log')
}
