import { sql, type Kysely } from 'kysely'

/**
 * A statement of a node answers the reclaims that the node had received when it read what it has to spare, however long the
 * statement was under way. Before, it answered all that were recorded until it arrived: also those made while credit
 * became free at its node. Nodes of the earlier version use `claim_leases` and `return_leases` without `p_reclaims`.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await claimLease(db)
  await claimLeases(db)
  await returnLeases(db)
}

/**
 * Claims credit for one lease of an account that the transaction has locked. `p_need` is all that waiting requests need
 * and `p_spare` what the lease has free; `p_sent` is when its node sent both, by the clock of the database, and
 * `p_reclaim` the last reclaim that it had received before it read them.
 */
const claimLease = (db: Kysely<unknown>) =>
  sql`
    create function claim_lease(
      p_lease text, p_generation integer, p_account text, p_need bigint, p_spare bigint,
      p_wish bigint, p_recalls boolean, p_sent timestamptz, p_reclaim timestamptz, p_node text,
      p_nodes bigint, p_life interval, p_demand interval
    ) returns lease_answer language plpgsql as $$
    declare
      moment timestamptz := clock_timestamp();
      free bigint;
      lease credit_lease;
      demand credit_demand;
      older bigint := 0;
      has_others boolean := false;
      is_awaited boolean := false;
      is_short boolean;
      was_waiting boolean;
      spare bigint;
      kept bigint;
      answer lease_answer;
    begin
      select posted - leased into free from credit_account where id = p_account;
      select * into lease from credit_lease where id = p_lease for update;
      select * into demand from credit_demand
        where account_id = p_account and node_id = p_node and until > moment;
      was_waiting := demand.node_id is not null;
      select least(coalesce(sum(amount) filter (
          where (since, node_id) < (coalesce(demand.since, 'infinity'), p_node)
        ), 0), 9223372036854775807), count(*) > 0, coalesce(bool_or(
          recalled_at > coalesce(lease.yielded_at, '-infinity') and recalled_at <= p_reclaim
        ), false)
        into older, has_others, is_awaited from credit_demand
        where account_id = p_account and node_id <> p_node and until > moment;
      answer.lease_id := p_lease;
      answer.is_waiting := false;
      answer.is_applied := case
        when lease.id is null then p_generation = 0
        else lease.generation = p_generation and lease.state = 'active'
      end;
      if answer.is_applied then
        -- Unspent credit that running requests hold: its node has to say that nothing of it is free.
        is_awaited := is_awaited and coalesce(lease.amount > lease.spent, false);
        spare := greatest(0, least(p_spare, coalesce(lease.amount - lease.spent, 0)));
        is_short := p_need > 0 and free + spare - older < p_need;
        kept := case
          when is_short then case when older = 0 then greatest(0, free + spare) else 0 end
          when has_others then p_need
          else greatest(p_need, least(free + spare, spare + least(p_wish, greatest(0, free) / p_nodes)))
        end;
        if kept <> spare then
          update credit_account set leased = leased + kept - spare where id = p_account;
        end if;
        insert into credit_lease as known
            (id, account_id, node_id, amount, generation, expires_at, yielded_at)
          values (p_lease, p_account, p_node, kept, 1, moment + p_life,
            -- Of what it keeps its node has to say again what it does not use: its requests may have failed meanwhile.
            case when kept = 0 then p_reclaim else '-infinity' end)
          on conflict (id) do update set
            amount = known.amount + kept - spare,
            generation = known.generation + 1,
            expires_at = excluded.expires_at,
            yielded_at = excluded.yielded_at
          returning * into lease;
        free := free + spare - kept;
        if not is_short then
          if was_waiting then
            delete from credit_demand where account_id = p_account and node_id = p_node;
          end if;
        elsif p_recalls then
          insert into credit_demand as known
            values (p_account, p_node, p_need - kept, moment, p_sent, moment + p_demand)
            on conflict (account_id, node_id) do update set
              amount = excluded.amount, recalled_at = excluded.recalled_at, until = excluded.until,
              since = case when known.until > moment then known.since else moment end
            returning * into demand;
          answer.is_waiting := true;
          perform pg_notify('tollgate_recall', concat_ws(' ', p_node, p_account,
            (extract(epoch from demand.recalled_at) * 1000000)::bigint,
            (extract(epoch from demand.since) * 1000000)::bigint));
        elsif was_waiting then
          answer.is_waiting := true;
          update credit_demand set amount = p_need - kept, until = moment + p_demand
            where account_id = p_account and node_id = p_node;
        end if;
        -- Nodes behind it, or before it, wait for this and for nothing else.
        if has_others and (kept < spare or (was_waiting and not is_short) or (is_awaited and kept = 0)) then
          perform pg_notify('tollgate_credit', p_account);
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

/**
 * Claims credit for several leases in one transaction; with `p_skips` it skips those of locked accounts. `p_ages` are
 * the milliseconds that each claim waited at its node, `p_reclaims` microseconds since 1970 by the clock of the database.
 */
const claimLeases = (db: Kysely<unknown>) =>
  sql`
    create function claim_leases(
      p_leases text[], p_generations integer[], p_accounts text[], p_needs bigint[],
      p_spares bigint[], p_wishes bigint[], p_recalls boolean[], p_ages bigint[],
      p_reclaims bigint[], p_node text, p_nodes bigint, p_life interval, p_demand interval,
      p_skips boolean, p_lock_ms integer
    ) returns setof lease_answer language plpgsql as $$
    declare
      -- Before the wait for locks: what a node needs is as old as its statement.
      arrived timestamptz := statement_timestamp();
      locked text[];
      claim record;
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
      for claim in
        select * from unnest(
            p_leases, p_generations, p_accounts, p_needs, p_spares, p_wishes, p_recalls, p_ages, p_reclaims
          ) as c (lease_id, generation, account_id, need, spare, wish, recalls, age, reclaim)
        where account_id = any(locked) order by lease_id
      loop
        return next claim_lease(claim.lease_id, claim.generation, claim.account_id, claim.need,
          claim.spare, claim.wish, claim.recalls, arrived - claim.age * interval '1 millisecond',
          timestamptz 'epoch' + claim.reclaim * interval '1 microsecond',
          p_node, p_nodes, p_life, p_demand);
      end loop;
    end $$`.execute(db)

/**
 * Returns parts of leases; see `ledger/return-leases.ts`. It answers the reclaims up to `p_reclaims`, in microseconds since 1970
 * by the clock of the database.
 */
const returnLeases = (db: Kysely<unknown>) =>
  sql`
    create function return_leases(
      p_leases text[], p_generations integer[], p_amounts bigint[], p_reclaims bigint[],
      p_last boolean, p_skips boolean, p_lock_ms integer
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
        select * from unnest(p_leases, p_generations, p_amounts, p_reclaims)
          as p (lease_id, generation, amount, reclaim)
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
              yielded_at = timestamptz 'epoch' + part.reclaim * interval '1 microsecond',
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
