import { toFoundModel, type DiscoveredModel } from './discovered-model'
import { byPlace, nothing, type Offer, type OwnedConnection, type CandidatePlace } from './offer'
import { SwrCache } from '../platform/swr-cache'
import type { MembershipRow } from '../platform/db/schema'

/** The membership of an account in an organization. */
export interface Membership {
  organizationId: string
  role: MembershipRow['role']
  status: MembershipRow['status']
  isPrimary: boolean
  /** Nano-dollars a month; null for the organization's default. */
  spendingLimit: bigint | null
}

/** The limits on the use of an organization by all its members together; null for no limit. */
export interface SharedLimits {
  requestsPerMinute: number
  tokensPerMinute: number
  maxConcurrentRequests: number
  monthlyRequests: number | null
  /** Nano-dollars. */
  monthlySpend: bigint | null
  /** The monthly limit of a member without an own one. */
  memberSpend: bigint | null
}

/** The offer and the limits that an organization has for its members. */
export interface Shared {
  offer: Offer
  limits: SharedLimits
}

/** The limits of one member's use of an organization; `memberSpend` is this member's. */
export interface MemberTerms extends SharedLimits {
  organizationId: string
}

/** Roles that call models. Source: contract 2.4. */
const callers: ReadonlySet<string> = new Set(['owner', 'admin', 'developer', 'member'])

const mayCall = ({ role, status }: Membership) => status === 'active' && callers.has(role)

/** The connections and organizations that one account brings to routing: its own, and those of its organizations. */
export class AccountCatalog {
  /** Memberships of every status; the primary one first, then the oldest. */
  readonly memberships: readonly Membership[]
  /** The organization whose pool pays for the platform's connections; null for the account itself. */
  readonly fundedBy: string | null
  /** The platform pays for the account's requests on its connections, by the account's plan. */
  readonly housePays: boolean
  readonly #own: Offer
  readonly #organizations: readonly { isPrimary: boolean; offer: Offer }[]
  readonly #terms: ReadonlyMap<string, MemberTerms>
  readonly #places = new Map<string, readonly CandidatePlace[]>()

  /**
   * `shared`: of the organizations whose models it may call. `fundedBy` is the account's setting, and applies where
   * the organization is one of those.
   */
  constructor(
    own: Offer,
    memberships: readonly Membership[] = [],
    { shared, fundedBy, housePays }: Belonging = alone,
  ) {
    this.#own = own
    this.housePays = housePays === true
    this.memberships = memberships
    this.fundedBy = fundedBy !== null && shared.has(fundedBy) ? fundedBy : null
    this.#organizations = memberships.flatMap(({ organizationId, isPrimary }) => {
      const offer = shared.get(organizationId)?.offer
      return offer && offer.size > 0 ? [{ isPrimary, offer }] : []
    })
    this.#terms = new Map(
      memberships.flatMap(({ organizationId, spendingLimit }) => {
        const limits = shared.get(organizationId)?.limits
        const memberSpend = spendingLimit ?? limits?.memberSpend ?? null
        return limits ? [[organizationId, { ...limits, organizationId, memberSpend }]] : []
      }),
    )
  }

  /** Returns the limits of the account's use of an organization whose models it may call. */
  termsIn(organizationId: string): MemberTerms | undefined {
    return this.#terms.get(organizationId)
  }

  /** Whether it has no connection of its own, and none by an organization. */
  get isEmpty(): boolean {
    return this.#own.size === 0 && this.#organizations.length === 0
  }

  /**
   * Returns the places of a provider, in the order in which they are tried: its own, then those of organizations, the
   * primary one's first, `org_pays` before `member_pays`. Those of the organization that funds the account come before
   * all. Source: contract 10.1.
   */
  placesOf(provider: string): readonly CandidatePlace[] {
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
    const { fundedBy } = this
    const isFunding = ({ organizationId }: CandidatePlace) => organizationId === fundedBy
    const theirs = ordered.map(({ place }) => place)
    const places = [
      ...(fundedBy === null ? [] : theirs.filter(isFunding)),
      ...(this.#own.get(provider) ?? []),
      ...(fundedBy === null ? theirs : theirs.filter((place) => !isFunding(place))),
    ]
    // Names that callers invent have no places, and are not cached.
    if (places.length > 0) this.#places.set(provider, places)
    return places
  }

  /** Finds a model that the catalogue does not list, by provider and name. */
  find(provider: string, name: string): DiscoveredModel | undefined {
    if (this.isEmpty) return undefined
    for (const connection of connectionsOf(this.placesOf(provider))) {
      const found = connection.found.get(name)
      if (found) return toFoundModel(provider, name, found)
    }
    return undefined
  }

  /** All of them, by id. */
  found(): DiscoveredModel[] {
    const providers = [this.#own, ...this.#organizations.map(({ offer }) => offer)]
    const models = new Map<string, DiscoveredModel>()
    for (const provider of new Set(providers.flatMap((offer) => [...offer.keys()]))) {
      for (const { found } of connectionsOf(this.placesOf(provider))) {
        for (const [name, known] of found) {
          const model = toFoundModel(provider, name, known)
          if (!models.has(model.id)) models.set(model.id, model)
        }
      }
    }
    return [...models.values()].toSorted((a, b) => (a.id < b.id ? -1 : 1))
  }
}

/** The memberships of an account. */
interface Belonging {
  shared: ReadonlyMap<string, Shared>
  fundedBy: string | null
  housePays?: boolean | undefined
}

const alone: Belonging = { shared: new Map(), fundedBy: null }

const connectionsOf = (places: readonly CandidatePlace[]): OwnedConnection[] =>
  places.flatMap(({ connections }) => connections)

const turnOf = ({ billing }: CandidatePlace) => (billing === 'member_pays' ? 1 : 0)

/** Shared by all accounts without connections and memberships. */
export const emptyAccount = new AccountCatalog(nothing)

/** An account as read; its organizations' entries are cached with them. */
interface Account {
  own: Offer
  memberships: readonly Membership[]
  fundedBy: string | null
  housePays?: boolean
  /** The parts that the composed catalogue was made of; undefined for a suspended organization. */
  composed: { parts: readonly (Shared | undefined)[]; catalog: AccountCatalog }
}

const nobody: Account = {
  own: nothing,
  memberships: [],
  fundedBy: null,
  composed: { parts: [], catalog: emptyAccount },
}

/** The queries of `AccountCatalogs`; all reject when the database does not answer. */
export interface AccountReads {
  account: (userId: string) => Promise<Omit<Account, 'composed'>>
  /** Reads an organization's offer and limits; undefined while it is suspended. */
  organization: (organizationId: string) => Promise<Shared | undefined>
  /** Whether an organization serves a provider that the account could join, or waits to. */
  offeredElsewhere: (userId: string, provider: string) => Promise<boolean>
}

interface Clock {
  now?: () => number
  random?: () => number
}

/** Caches in memory what accounts bring to routing; in the steady state it returns without a promise. */
export class AccountCatalogs {
  readonly #accounts: SwrCache<Account>
  readonly #organizations: SwrCache<Shared | undefined>
  readonly #elsewhere: SwrCache<boolean>

  constructor(reads: AccountReads, clock: Clock = {}) {
    this.#accounts = new SwrCache({
      lookUp: async (userId) => {
        const account = await reads.account(userId)
        const { own, memberships, housePays } = account
        if (own.size === 0 && memberships.length === 0 && !housePays) return nobody
        const catalog = new AccountCatalog(own, memberships, { ...alone, housePays })
        return { ...account, composed: { parts: [], catalog } }
      },
      capacity: 100_000,
      ...clock,
    })
    this.#organizations = new SwrCache({
      lookUp: reads.organization,
      capacity: 20_000,
      ...clock,
    })
    this.#elsewhere = new SwrCache({
      lookUp: (question) => {
        const [userId = '', provider = ''] = question.split(' ')
        return reads.offeredElsewhere(userId, provider)
      },
      capacity: 10_000,
      ...clock,
    })
  }

  /** The number of cached entries. */
  get size(): number {
    return this.#accounts.size + this.#organizations.size + this.#elsewhere.size
  }

  /** Throws or rejects with `gateway_unavailable`. */
  of(userId: string): AccountCatalog | Promise<AccountCatalog> {
    const account = this.#accounts.of(userId)
    if (account instanceof Promise) return account.then((read) => this.#compose(read))
    return this.#compose(account)
  }

  /**
   * Returns an organization's offer and limits, for any account; undefined while it is suspended. Throws or rejects
   * with `gateway_unavailable`.
   */
  sharedBy(organizationId: string): Shared | undefined | Promise<Shared | undefined> {
    return this.#organizations.of(organizationId)
  }

  /**
   * Whether an organization serves a provider that the account is no active member of: a public one, or one whose
   * approval it awaits. Only used for accounts that are denied.
   */
  isOfferedElsewhere(userId: string, provider: string): boolean | Promise<boolean> {
    return this.#elsewhere.of(`${userId} ${provider}`)
  }

  /** Invalidates the entries of an account or organization that was changed. */
  forget(ownerId: string): void {
    this.#accounts.forget(ownerId)
    this.#organizations.forget(ownerId)
    this.#elsewhere.distrust()
  }

  /** Invalidates all entries, as notifications may have been missed: each is looked up again before it is used. */
  distrust(): void {
    for (const lookUps of [this.#accounts, this.#organizations, this.#elsewhere]) lookUps.distrust()
  }

  #compose(account: Account): AccountCatalog | Promise<AccountCatalog> {
    if (account.memberships.length === 0) return account.composed.catalog
    const parts = account.memberships
      .filter(mayCall)
      .map(({ organizationId }) => this.#organizations.of(organizationId))
    const known = parts.flatMap((part) => (part instanceof Promise ? [] : [part]))
    if (known.length === parts.length) return composed(account, known)
    return Promise.all(parts.map(async (part) => part)).then((read) => composed(account, read))
  }
}

/** Returns the same object as long as its parts are the same. */
function composed(account: Account, parts: readonly (Shared | undefined)[]): AccountCatalog {
  const last = account.composed
  const isSame =
    last.parts.length === parts.length && last.parts.every((part, at) => part === parts[at])
  if (isSame) return last.catalog
  const { own, memberships, fundedBy, housePays } = account
  const ids = memberships.filter(mayCall).map(({ organizationId }) => organizationId)
  const shared = new Map(
    parts.flatMap((part, at) => (part ? [[ids[at] ?? '', part] as const] : [])),
  )
  const catalog = new AccountCatalog(own, memberships, { shared, fundedBy, housePays })
  account.composed = { parts, catalog }
  return account.composed.catalog
}
