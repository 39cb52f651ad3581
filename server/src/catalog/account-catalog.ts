import { byPlace, nothing, type Offer, type OwnedConnection, type Place } from './offer'
import { LookUps } from '../db/look-ups'
import type { MembershipRow } from '../db/schema'

/** A caller's place in an organization. */
export interface Membership {
  organizationId: string
  role: MembershipRow['role']
  status: MembershipRow['status']
  isPrimary: boolean
}

/** A model that is known only from connections that the caller may use. */
export interface FoundModel {
  id: string
  provider: string
  /** What the provider calls it. */
  name: string
  /** Unix seconds. */
  foundAt: number
}

/** Roles that call models. Source: api.md 2.4. */
const callers: ReadonlySet<string> = new Set(['owner', 'admin', 'developer', 'member'])

const mayCall = ({ role, status }: Membership) => status === 'active' && callers.has(role)

/** What one account brings to routing: its own connections and those of its organizations. */
export class AccountCatalog {
  /** Every status; the primary one first, then the oldest. */
  readonly memberships: readonly Membership[]
  readonly #own: Offer
  readonly #organizations: readonly { isPrimary: boolean; offer: Offer }[]
  readonly #places = new Map<string, readonly Place[]>()

  /** `offers`: of the organizations whose models it may call. */
  constructor(
    own: Offer,
    memberships: readonly Membership[] = [],
    offers: ReadonlyMap<string, Offer> = new Map(),
  ) {
    this.#own = own
    this.memberships = memberships
    this.#organizations = memberships.flatMap(({ organizationId, isPrimary }) => {
      const offer = offers.get(organizationId)
      return offer && offer.size > 0 ? [{ isPrimary, offer }] : []
    })
  }

  /** Whether it has no connection of its own, and none by an organization. */
  get isEmpty(): boolean {
    return this.#own.size === 0 && this.#organizations.length === 0
  }

  /**
   * The places of a provider, in the order in which they are tried: its own, then those of
   * organizations, the primary one's first, `org_pays` before `member_pays`. Source: api.md 21.1.
   */
  placesOf(provider: string): readonly Place[] {
    if (this.#organizations.length === 0) return this.#own.get(provider) ?? []
    const known = this.#places.get(provider)
    if (known) return known
    const shared = this.#organizations.flatMap(({ isPrimary, offer }) =>
      (offer.get(provider) ?? []).map((place) => ({ isPrimary, place })),
    )
    const ordered = shared.toSorted(
      (a, b) =>
        Number(b.isPrimary) - Number(a.isPrimary) ||
        turnOf(a.place) - turnOf(b.place) ||
        byPlace(a.place, b.place),
    )
    const places = [...(this.#own.get(provider) ?? []), ...ordered.map(({ place }) => place)]
    // Names that callers make up have no places, and are not kept.
    if (places.length > 0) this.#places.set(provider, places)
    return places
  }

  /** A model that the catalogue has not, by its two parts. */
  find(provider: string, name: string): FoundModel | undefined {
    if (this.isEmpty) return undefined
    for (const connection of connectionsOf(this.placesOf(provider))) {
      const foundAt = connection.found.get(name)
      if (foundAt !== undefined) return { id: `${provider}/${name}`, provider, name, foundAt }
    }
    return undefined
  }

  /** All of them, by id. */
  found(): FoundModel[] {
    const providers = [this.#own, ...this.#organizations.map(({ offer }) => offer)]
    const models = new Map<string, FoundModel>()
    for (const provider of new Set(providers.flatMap((offer) => [...offer.keys()]))) {
      for (const { found } of connectionsOf(this.placesOf(provider))) {
        for (const [name, foundAt] of found) {
          const id = `${provider}/${name}`
          if (!models.has(id)) models.set(id, { id, provider, name, foundAt })
        }
      }
    }
    return [...models.values()].toSorted((a, b) => (a.id < b.id ? -1 : 1))
  }
}

const connectionsOf = (places: readonly Place[]): OwnedConnection[] =>
  places.flatMap(({ connections }) => connections)

const turnOf = ({ billing }: Place) => (billing === 'member_pays' ? 1 : 0)

/** What the many have who own nothing and belong nowhere. */
export const emptyAccount = new AccountCatalog(nothing)

/** An account as it was read; what its organizations have is kept with them. */
interface Account {
  own: Offer
  memberships: readonly Membership[]
  /** Made of these offers. */
  composed: { offers: readonly Offer[]; catalog: AccountCatalog }
}

const nobody: Account = {
  own: nothing,
  memberships: [],
  composed: { offers: [], catalog: emptyAccount },
}

/** Where `AccountCatalogs` reads; all reject when the database does not answer. */
export interface AccountReads {
  account: (userId: string) => Promise<Pick<Account, 'own' | 'memberships'>>
  /** What an organization has; nothing while it is suspended. */
  organization: (organizationId: string) => Promise<Offer>
  /** Whether an organization serves a provider that the account could join, or waits to. */
  offeredElsewhere: (userId: string, provider: string) => Promise<boolean>
}

interface Clock {
  now?: () => number
  random?: () => number
}

/** What accounts bring to routing, in memory; in the steady state without a promise. */
export class AccountCatalogs {
  readonly #accounts: LookUps<Account>
  readonly #organizations: LookUps<Offer>
  readonly #elsewhere: LookUps<boolean>

  constructor(reads: AccountReads, clock: Clock = {}) {
    this.#accounts = new LookUps({
      lookUp: async (userId) => {
        const { own, memberships } = await reads.account(userId)
        if (own.size === 0 && memberships.length === 0) return nobody
        const catalog = new AccountCatalog(own, memberships)
        return { own, memberships, composed: { offers: [], catalog } }
      },
      capacity: 100_000,
      ...clock,
    })
    this.#organizations = new LookUps({
      lookUp: reads.organization,
      capacity: 20_000,
      ...clock,
    })
    this.#elsewhere = new LookUps({
      lookUp: (question) => {
        const [userId = '', provider = ''] = question.split(' ')
        return reads.offeredElsewhere(userId, provider)
      },
      capacity: 10_000,
      ...clock,
    })
  }

  /** Throws or rejects with `gateway_unavailable`. */
  of(userId: string): AccountCatalog | Promise<AccountCatalog> {
    const account = this.#accounts.of(userId)
    if (account instanceof Promise) return account.then((read) => this.#compose(read))
    return this.#compose(account)
  }

  /** What an organization has, whoever asks. Throws or rejects with `gateway_unavailable`. */
  offerOf(organizationId: string): Offer | Promise<Offer> {
    return this.#organizations.of(organizationId)
  }

  /**
   * Whether an organization serves a provider that the account is no active member of: a public
   * one, or one that it waits to be let into. Asked only of who is denied.
   */
  isOfferedElsewhere(userId: string, provider: string): boolean | Promise<boolean> {
    return this.#elsewhere.of(`${userId} ${provider}`)
  }

  /** Something of an account or an organization was changed. */
  forget(ownerId: string): void {
    this.#accounts.forget(ownerId)
    this.#organizations.forget(ownerId)
    this.#elsewhere.distrust()
  }

  /** Notifications may have been missed: everything is looked up again before it is used. */
  distrust(): void {
    for (const lookUps of [this.#accounts, this.#organizations, this.#elsewhere]) lookUps.distrust()
  }

  #compose(account: Account): AccountCatalog | Promise<AccountCatalog> {
    if (account.memberships.length === 0) return account.composed.catalog
    const offers = account.memberships
      .filter(mayCall)
      .map(({ organizationId }) => this.#organizations.of(organizationId))
    const known = offers.flatMap((offer) => (offer instanceof Promise ? [] : [offer]))
    if (known.length === offers.length) return composed(account, known)
    return Promise.all(offers.map(async (offer) => offer)).then((read) => composed(account, read))
  }
}

/** The same object as long as the same offers are in it. */
function composed(account: Account, offers: readonly Offer[]): AccountCatalog {
  const last = account.composed
  const isSame =
    last.offers.length === offers.length && last.offers.every((offer, at) => offer === offers[at])
  if (isSame) return last.catalog
  const { own, memberships } = account
  const ids = memberships.filter(mayCall).map(({ organizationId }) => organizationId)
  const byId = new Map(offers.map((offer, at) => [ids[at] ?? '', offer]))
  account.composed = { offers, catalog: new AccountCatalog(own, memberships, byId) }
  return account.composed.catalog
}
