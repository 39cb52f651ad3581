import { sql, type Kysely } from 'kysely'

/** What accounts think of models, and how the installation presents itself. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table model_favorite (
      user_id text not null references users (id) on delete cascade,
      model_id text not null,
      created_at timestamptz not null default now(),
      primary key (user_id, model_id)
    )`.execute(db)
  await ratings(db)
  await sql`
    create table branding (
      is_only boolean primary key default true check (is_only),
      fields jsonb not null default '{}',
      updated_at timestamptz not null default now()
    )`.execute(db)
  await sql`insert into branding default values`.execute(db)
  // What public organizations serve is told of the last day.
  await sql`
    create index request_log_of_organizations on request_log (organization_id, started_at)
    where organization_id is not null`.execute(db)
}

async function ratings(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table model_rating (
      id text primary key,
      user_id text not null references users (id) on delete cascade,
      model_id text not null,
      rating smallint not null check (rating between 1 and 5),
      review text,
      created_at timestamptz not null default now(),
      updated_at timestamptz not null default now(),
      unique (user_id, model_id)
    )`.execute(db)
  await sql`create index model_rating_model on model_rating (model_id, rating, id)`.execute(db)
  await sql`create index model_rating_newest on model_rating (model_id, id)`.execute(db)
  // Lists show averages: they must not count all ratings each time.
  await sql`
    create table model_rating_sum (
      model_id text not null,
      rating smallint not null,
      ratings bigint not null check (ratings >= 0),
      primary key (model_id, rating)
    )`.execute(db)
  await sql`
    create function sum_ratings() returns trigger language plpgsql as $$
    begin
      if tg_op <> 'INSERT' then
        update model_rating_sum set ratings = ratings - 1
        where model_id = old.model_id and rating = old.rating;
      end if;
      if tg_op <> 'DELETE' then
        insert into model_rating_sum as known (model_id, rating, ratings)
        values (new.model_id, new.rating, 1)
        on conflict (model_id, rating) do update set ratings = known.ratings + 1;
      end if;
      return null;
    end $$`.execute(db)
  await sql`
    create trigger model_rating_summed after insert or delete or update of rating
    on model_rating for each row execute function sum_ratings()`.execute(db)
}
