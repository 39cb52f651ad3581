import { sql, type Kysely } from 'kysely'

/** Credit notes of refunds and disputes, taxes of payments, and mails of invoices. */
export async function up(db: Kysely<unknown>): Promise<void> {
  // All rows satisfied the narrower one.
  await sql`
    alter table invoice drop constraint invoice_kind_check,
      add constraint invoice_kind_check check (kind in ('purchase', 'usage', 'credit_note')) not valid,
      -- Of a credit note: the invoice that it corrects.
      add column corrects_id text,
      -- Null where no tax is shown.
      add column tax_amount bigint,
      add column tax jsonb`.execute(db)
  await sql`
    create index invoice_corrects on invoice (corrects_id) where corrects_id is not null`.execute(
    db,
  )
  await sql`create index invoice_number_start on invoice (number text_pattern_ops)`.execute(db)
  // Refunds of before have a credit note soon, if their payment has an invoice.
  await sql`
    alter table payment_reversal add column documented integer not null default 0`.execute(db)
  await sql`
    create index payment_reversal_undocumented on payment_reversal (id)
    where documented < movements`.execute(db)
  await sql`
    alter table payment add column tax_pending boolean not null default false,
      add column tax bigint`.execute(db)
  await sql`create index payment_tax_pending on payment (id)
    where tax_pending and status = 'completed'`.execute(db)
  await sql`
    alter table company add column billing_email text,
      add column mail_invoices boolean not null default false`.execute(db)
}
