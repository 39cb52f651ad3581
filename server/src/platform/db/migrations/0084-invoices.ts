import { sql, type Kysely } from 'kysely'

/** Invoices with the data of companies, receipts of payments, saved views of usage, and sums by quarter of an hour. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await addInvoices(db)
  // Payments of before are read again, and have their receipts soon.
  await sql`
    alter table payment add column receipt_url text,
      add column receipt_read boolean not null default false,
      add column invoice_id text`.execute(db)
  await sql`
    create index payment_without_receipt on payment (id)
    where status = 'completed' and not receipt_read`.execute(db)
  await sql`
    create index payment_without_invoice on payment (id)
    where status = 'completed' and invoice_id is null`.execute(db)
  await sql`
    create table saved_view (
      id text primary key,
      user_id text references users (id) on delete cascade,
      organization_id text references organization (id) on delete cascade,
      name text not null,
      parameters jsonb not null,
      created_at timestamptz not null default now(),
      updated_at timestamptz not null default now(),
      check ((user_id is null) <> (organization_id is null))
    )`.execute(db)
  await sql`create unique index saved_view_user on saved_view (user_id, name)`.execute(db)
  await sql`create unique index saved_view_organization on saved_view (organization_id, name)`.execute(
    db,
  )
  await allowQuarterHours(db)
}

async function addInvoices(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table company (
      account_id text primary key,
      name text,
      address text[] not null default '{}',
      country text,
      tax_id text,
      email text,
      purchase_order text,
      updated_at timestamptz not null default now()
    )`.execute(db)
  // The row is locked while a number is assigned, so that none is skipped and none is assigned twice.
  await sql`
    create table invoice_series (
      prefix text not null,
      year integer not null,
      last_number integer not null,
      last_date date not null,
      primary key (prefix, year)
    )`.execute(db)
  await sql`
    create table invoice (
      id text primary key,
      account_id text not null,
      kind text not null check (kind in ('purchase', 'usage')),
      -- The payment, or the month.
      subject text not null,
      number text not null unique,
      issued_on date not null,
      paid_at timestamptz,
      total bigint not null,
      seller jsonb not null,
      buyer jsonb not null,
      created_at timestamptz not null default now(),
      unique (account_id, kind, subject)
    )`.execute(db)
  await sql`create index invoice_account on invoice (account_id, id)`.execute(db)
  await sql`
    create table invoice_line (
      invoice_id text not null references invoice (id) on delete cascade,
      position integer not null,
      account_id text not null,
      description text not null,
      month text,
      model text,
      requests bigint,
      input_tokens bigint,
      output_tokens bigint,
      amount bigint not null,
      primary key (invoice_id, position)
    )`.execute(db)
  await sql`
    create index invoice_line_month on invoice_line (account_id, month) where month is not null`.execute(
    db,
  )
}

/** Midnight of a time zone that is not whole hours from UTC lies on a quarter of an hour. */
async function allowQuarterHours(db: Kysely<unknown>): Promise<void> {
  const grains = {
    usage_sum: sql`'minute', 'quarter_hour', 'hour', 'day'`,
    request_sum: sql`'quarter_hour', 'hour', 'day'`,
    request_tag_sum: sql`'quarter_hour', 'hour', 'day'`,
  }
  for (const [table, names] of Object.entries(grains)) {
    const constraint = sql.ref(`${table}_grain_check`)
    // All rows satisfied the narrower one.
    await sql`
      alter table ${sql.table(table)} drop constraint ${constraint},
        add constraint ${constraint} check (grain in (${names})) not valid`.execute(db)
  }
}
