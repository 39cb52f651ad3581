import { sql, type Kysely } from 'kysely'

/**
 * Leases with generations: each statement about a lease names the generation that its node knows, and does nothing if
 * the lease has another one. Nodes that lack credit of an account queue in `credit_demand`.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`
    alter table credit_lease
      add column generation integer not null default 0,
      add column yielded_at timestamptz not null default '-infinity'`.execute(db)
  // Unlogged: after a crash of the database the nodes repeat their demands.
  await sql`
    create unlogged table credit_demand (
      account_id text not null,
      node_id text not null,
      amount bigint not null check (amount > 0),
      since timestamptz not null,
      recalled_at timestamptz not null,
      until timestamptz not null,
      primary key (account_id, node_id)
    )`.execute(db)
  await sql`create index credit_demand_recalled on credit_demand (recalled_at)`.execute(db)
  await sql`
    create type lease_answer as (
      lease_id text, is_applied boolean, generation integer, is_active boolean, amount bigint,
      available bigint, elsewhere bigint, unanswered bigint, is_waiting boolean, reserved bigint
    )`.execute(db)
  await takeLease(db)
  await takeLeases(db)
  await fenceLease(db)
  await returnLeases(db)
}

/** Takes one lease of an account that the transaction has locked, so it reads the latest committed state. */
const takeLease = (db: Kysely<unknown>) =>
  sql`
    create function take_lease(
      p_lease text, p_generation integer, p_account text, p_need bigint, p_wish bigint,
      p_recalls boolean, p_node text, p_nodes bigint, p_life interval, p_demand interval
    ) returns lease_answer language plpgsql as $$
    declare
      moment timestamptz := clock_timestamp();
      free bigint;
      lease credit_lease;
      demand credit_demand;
      older bigint := 0;
      has_others boolean := false;
      granted bigint := 0;
      answer lease_answer;
    begin
      select posted - leased into free from credit_account where id = p_account;
      select * into lease from credit_lease where id = p_lease for update;
      select * into demand from credit_demand
        where account_id = p_account and node_id = p_node and until > moment;
      select least(coalesce(sum(amount) filter (
          where (since, node_id) < (coalesce(demand.since, 'infinity'), p_node)
        ), 0), 9223372036854775807), count(*) > 0
        into older, has_others from credit_demand
        where account_id = p_account and node_id <> p_node and until > moment;
      answer.lease_id := p_lease;
      answer.is_waiting := false;
      answer.is_applied := case
        when lease.id is null then p_generation = 0
        else lease.generation = p_generation and lease.state = 'active'
      end;
      if answer.is_applied then
        granted := greatest(0, least(
          free - older,
          greatest(p_need, case when has_others then 0 else least(p_wish, free / p_nodes) end)
        ));
        if granted > 0 then
          update credit_account set leased = leased + granted where id = p_account;
        end if;
        insert into credit_lease as known (id, account_id, node_id, amount, generation, expires_at)
          values (p_lease, p_account, p_node, granted, 1, moment + p_life)
          on conflict (id) do update set
            amount = known.amount + granted,
            generation = known.generation + 1,
            expires_at = moment + p_life,
            -- Of what it has taken since it answered, its node has to say again what it does not use.
            yielded_at = case when granted > 0 then '-infinity' else known.yielded_at end
          returning * into lease;
        free := free - granted;
        if granted >= p_need then
          if demand.node_id is not null then
            delete from credit_demand where account_id = p_account and node_id = p_node;
          end if;
        elsif p_recalls then
          insert into credit_demand as known
            values (p_account, p_node, p_need - granted, moment, moment, moment + p_demand)
            on conflict (account_id, node_id) do update set
              amount = excluded.amount, recalled_at = moment, until = excluded.until,
              since = case when known.until > moment then known.since else moment end
            returning * into demand;
          answer.is_waiting := true;
          perform pg_notify('tollgate_recall', concat_ws(' ', p_node, p_account,
            (extract(epoch from demand.recalled_at) * 1000000)::bigint,
            (extract(epoch from demand.since) * 1000000)::bigint));
        elsif demand.node_id is not null then
          answer.is_waiting := true;
          update credit_demand set amount = p_need - granted, until = moment + p_demand
            where account_id = p_account and node_id = p_node;
        end if;
      end if;
      answer.generation := coalesce(lease.generation, 0);
      answer.is_active := coalesce(lease.state = 'active', false);
      answer.amount := coalesce(lease.amount, 0);
      answer.available := free;
      answer.reserved := least(older, free);
      select coalesce(sum(amount - spent), 0), coalesce(sum(amount - spent) filter (
          where node_id <> p_node and yielded_at < demand.recalled_at
            -- Its node has renewed it lately: a dead one is not waited for.
            and expires_at > moment + p_life / 2
        ), 0)
        into answer.elsewhere, answer.unanswered from credit_lease
        where account_id = p_account and state = 'active' and id <> p_lease;
      return answer;
    end $$`.execute(db)

/** Takes several leases in one transaction; with `p_skips` it skips those of locked accounts. */
const takeLeases = (db: Kysely<unknown>) =>
  sql`
    create function take_leases(
      p_leases text[], p_generations integer[], p_accounts text[], p_needs bigint[],
      p_wishes bigint[], p_recalls boolean[], p_node text, p_nodes bigint, p_life interval,
      p_demand interval, p_skips boolean, p_lock_ms integer
    ) returns setof lease_answer language plpgsql as $$
    declare
      locked text[];
      wanted record;
    begin
      perform set_config('lock_timeout', p_lock_ms::text, true);
      if p_skips then
        select array_agg(id) into locked from (
          select id from credit_account where id = any(p_accounts) order by id for update skip locked
        ) as free;
      else
        select array_agg(id) into locked from (
          select id from credit_account where id = any(p_accounts) order by id for update
        ) as free;
      end if;
      -- As all who lock several leases do.
      for wanted in
        select * from unnest(p_leases, p_generations, p_accounts, p_needs, p_wishes, p_recalls)
          as w (lease_id, generation, account_id, need, wish, recalls)
        where account_id = any(locked) order by lease_id
      loop
        return next take_lease(wanted.lease_id, wanted.generation, wanted.account_id, wanted.need,
          wanted.wish, wanted.recalls, p_node, p_nodes, p_life, p_demand);
      end loop;
    end $$`.execute(db)

/**
 * Fences a lease whose state is unknown: earlier statements name an earlier generation, and do nothing when they
 * arrive late. A lease that does not exist is created as ended.
 */
const fenceLease = (db: Kysely<unknown>) =>
  sql`
    create function fence_lease(
      p_lease text, p_generation integer, p_account text, p_node text, p_lock_ms integer
    ) returns setof lease_answer language plpgsql as $$
    declare
      answer lease_answer;
    begin
      perform set_config('lock_timeout', p_lock_ms::text, true);
      select posted - leased into answer.available from credit_account where id = p_account for update;
      if not found then return; end if;
      insert into credit_lease as known
          (id, account_id, node_id, amount, generation, state, expires_at)
        values (p_lease, p_account, p_node, 0, p_generation + 1, 'closed', clock_timestamp())
        on conflict (id) do update set generation = greatest(known.generation, p_generation) + 1
        returning id, true, generation, state = 'active', amount
        into answer.lease_id, answer.is_applied, answer.generation, answer.is_active, answer.amount;
      answer.reserved := 0;
      answer.is_waiting := false;
      answer.unanswered := 0;
      select coalesce(sum(amount - spent), 0) into answer.elsewhere from credit_lease
        where account_id = p_account and state = 'active' and id <> p_lease;
      return next answer;
    end $$`.execute(db)

const returnLeases = (db: Kysely<unknown>) =>
  sql`
    create function return_leases(
      p_leases text[], p_generations integer[], p_amounts bigint[], p_last boolean,
      p_skips boolean, p_lock_ms integer
    ) returns setof lease_answer language plpgsql as $$
    declare
      accounts text[];
      locked text[];
      part record;
      lease credit_lease;
      answer lease_answer;
    begin
      perform set_config('lock_timeout', p_lock_ms::text, true);
      select array_agg(account_id) into accounts from credit_lease where id = any(p_leases);
      if p_skips then
        select array_agg(id) into locked from (
          select id from credit_account where id = any(accounts) order by id for update skip locked
        ) as free;
      else
        select array_agg(id) into locked from (
          select id from credit_account where id = any(accounts) order by id for update
        ) as free;
      end if;
      for part in
        select * from unnest(p_leases, p_generations, p_amounts) as p (lease_id, generation, amount)
        order by lease_id
      loop
        select * into lease from credit_lease
          where id = part.lease_id and account_id = any(locked) for update;
        continue when not found;
        answer.is_applied := lease.state = 'active' and lease.generation = part.generation
          and lease.amount - lease.spent >= part.amount;
        if answer.is_applied then
          update credit_lease set
              amount = amount - part.amount,
              generation = generation + 1,
              yielded_at = clock_timestamp(),
              state = case when p_last and amount - part.amount = spent then 'closed' else state end
            where id = part.lease_id returning * into lease;
          if part.amount > 0 then
            update credit_account set leased = leased - part.amount where id = lease.account_id;
          end if;
          perform pg_notify('tollgate_credit', lease.account_id);
        end if;
        answer.lease_id := lease.id;
        answer.generation := lease.generation;
        answer.is_active := lease.state = 'active';
        answer.amount := lease.amount;
        return next answer;
      end loop;
    end $$`.execute(db)
