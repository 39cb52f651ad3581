import { toFoundModel, type DiscoveredModel } from './discovered-model'
import type { MemberTerms, Membership, Shared } from './member-terms'
import { byRank, noOffer, type Offer, type OwnedConnection, type ProviderOffer } from './offer'
import { SwrCache } from '../platform/swr-cache'
import { chain, type MaybePromise } from '../platform/maybe-promise'

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
  readonly #offers = new Map<string, readonly ProviderOffer[]>()

  /**
   * `fundedBy` is the account's setting, and applies where it is one of `shared`, whose models the account may call.
   */
  constructor(
    own: Offer,
    memberships: readonly Membership[] = [],
    { shared, fundedBy, housePays }: Affiliations = noAffiliations,
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
      memberships.flatMap(({ organizationId, spendingLimit, department = null }) => {
        const limits = shared.get(organizationId)?.limits
        if (!limits) return []
        const memberSpend = spendingLimit ?? limits.memberSpend
        return [[organizationId, { ...limits, organizationId, department, memberSpend }]]
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
   * Returns the offers of a provider, in the order in which they are tried: its own, then those of organizations, the
   * primary one's first, `org_pays` before `member_pays`. Those of the organization that funds the account come before
   * all. Source: contract 10.1.
   */
  offersOf(provider: string): readonly ProviderOffer[] {
    if (this.#organizations.length === 0) return this.#own.get(provider) ?? []
    const knownOffers = this.#offers.get(provider)
    if (knownOffers) return knownOffers
    const shared = this.#organizations.flatMap(({ isPrimary, offer }) =>
      (offer.get(provider) ?? []).map((offer) => ({ isPrimary, offer })),
    )
    const ordered = shared.toSorted(
      (a, b) =>
        Number(b.isPrimary) - Number(a.isPrimary) ||
        billingOrder(a.offer) - billingOrder(b.offer) ||
        byRank(a.offer, b.offer),
    )
    const { fundedBy } = this
    const isFunding = ({ organizationId }: ProviderOffer) => organizationId === fundedBy
    const theirs = ordered.map(({ offer }) => offer)
    const offers = [
      ...(fundedBy === null ? [] : theirs.filter(isFunding)),
      ...(this.#own.get(provider) ?? []),
      ...(fundedBy === null ? theirs : theirs.filter((offer) => !isFunding(offer))),
    ]
    // Names that callers invent have no offers, and are not cached.
    if (offers.length > 0) this.#offers.set(provider, offers)
    return offers
  }

  /** Finds a model that the catalogue does not list, by provider and name. */
  find(provider: string, name: string): DiscoveredModel | undefined {
    if (this.isEmpty) return undefined
    for (const connection of connectionsOf(this.offersOf(provider))) {
      const discovered = connection.discovered.get(name)
      if (discovered) return toFoundModel(provider, name, discovered)
    }
    return undefined
  }

  /** All of them, by id. */
  listDiscovered(): DiscoveredModel[] {
    const providers = [this.#own, ...this.#organizations.map(({ offer }) => offer)]
    const models = new Map<string, DiscoveredModel>()
    for (const provider of new Set(providers.flatMap((offer) => [...offer.keys()]))) {
      for (const { discovered } of connectionsOf(this.offersOf(provider))) {
        for (const [name, discoveredModel] of discovered) {
          const model = toFoundModel(provider, name, discoveredModel)
          if (!models.has(model.id)) models.set(model.id, model)
        }
      }
    }
    return [...models.values()].toSorted((a, b) => (a.id < b.id ? -1 : 1))
  }
}

/** The memberships of an account. */
interface Affiliations {
  shared: ReadonlyMap<string, Shared>
  fundedBy: string | null
  housePays?: boolean | undefined
}

const noAffiliations: Affiliations = { shared: new Map(), fundedBy: null }

const connectionsOf = (offers: readonly ProviderOffer[]): OwnedConnection[] =>
  offers.flatMap(({ connections }) => connections)

const billingOrder = ({ billing }: ProviderOffer) => (billing === 'member_pays' ? 1 : 0)

/** Shared by all accounts without connections and memberships. */
export const emptyAccountCatalog = new AccountCatalog(noOffer)

/** An account as read; its organizations' entries are cached with them. */
interface Account {
  own: Offer
  memberships: readonly Membership[]
  fundedBy: string | null
  housePays?: boolean
  /** The organizations that the composed catalogue was made of; undefined for a suspended organization. */
  composed: { organizations: readonly (Shared | undefined)[]; catalog: AccountCatalog }
}

const accountWithoutOffer: Account = {
  own: noOffer,
  memberships: [],
  fundedBy: null,
  composed: { organizations: [], catalog: emptyAccountCatalog },
}

/** The queries of `AccountCatalogs`; all reject when the database does not answer. */
export interface AccountReads {
  account: (userId: string) => Promise<Omit<Account, 'composed'>>
  /** Reads an organization's offer and limits; undefined while it is suspended. */
  organization: (organizationId: string) => Promise<Shared | undefined>
  /** Whether an organization serves a provider that the account could join, or waits to. */
  offeredToOthers: (userId: string, provider: string) => Promise<boolean>
}

interface Clock {
  now?: () => number
  random?: () => number
}

/** Caches in memory what accounts bring to routing; in the steady state it returns without a promise. */
export class AccountCatalogs {
  readonly #accounts: SwrCache<Account>
  readonly #organizations: SwrCache<Shared | undefined>
  readonly #offeredToOthers: SwrCache<boolean>

  constructor(reads: AccountReads, clock: Clock = {}) {
    this.#accounts = new SwrCache({
      lookUp: async (userId) => {
        const account = await reads.account(userId)
        const { own, memberships, housePays } = account
        if (own.size === 0 && memberships.length === 0 && !housePays) return accountWithoutOffer
        const catalog = new AccountCatalog(own, memberships, { ...noAffiliations, housePays })
        return { ...account, composed: { organizations: [], catalog } }
      },
      capacity: 100_000,
      ...clock,
    })
    this.#organizations = new SwrCache({ lookUp: reads.organization, capacity: 20_000, ...clock })
    this.#offeredToOthers = new SwrCache({
      lookUp: (cacheKey) => {
        const [userId = '', provider = ''] = cacheKey.split(' ')
        return reads.offeredToOthers(userId, provider)
      },
      capacity: 10_000,
      ...clock,
    })
  }

  /** The number of cached entries. */
  get size(): number {
    return this.#accounts.size + this.#organizations.size + this.#offeredToOthers.size
  }

  /** Throws or rejects with `gateway_unavailable`. */
  of(userId: string): MaybePromise<AccountCatalog> {
    return chain(this.#accounts.of(userId), (account) => this.#compose(account))
  }

  /**
   * Returns an organization's offer and limits, for any account; undefined while it is suspended. Rejects with
   * `gateway_unavailable`.
   */
  async sharedBy(organizationId: string): Promise<Shared | undefined> {
    return this.#organizations.of(organizationId)
  }

  /**
   * Whether an organization serves a provider that the account is no active member of: a public one, or one whose
   * approval it awaits. Only used for accounts that are denied.
   */
  async isOfferedToOthers(userId: string, provider: string): Promise<boolean> {
    return this.#offeredToOthers.of(`${userId} ${provider}`)
  }

  /** Invalidates the entries of an account or organization that was changed. */
  invalidate(ownerId: string): void {
    this.#accounts.invalidate(ownerId)
    this.#organizations.invalidate(ownerId)
    this.#offeredToOthers.invalidateAll()
  }

  /** Invalidates all entries, as notifications may have been missed: each is looked up again before it is used. */
  invalidateAll(): void {
    for (const lookUps of [this.#accounts, this.#organizations, this.#offeredToOthers])
      lookUps.invalidateAll()
  }

  #compose(account: Account): MaybePromise<AccountCatalog> {
    if (account.memberships.length === 0) return account.composed.catalog
    const organizations = account.memberships
      .filter(mayCall)
      .map(({ organizationId }) => this.#organizations.of(organizationId))
    const knownOrganizations = organizations.flatMap((one) => (one instanceof Promise ? [] : [one]))
    if (knownOrganizations.length === organizations.length)
      return composeCatalog(account, knownOrganizations)
    return Promise.all(organizations.map(async (one) => one)).then((read) =>
      composeCatalog(account, read),
    )
  }
}

/** Returns the same object as long as its organizations are the same. */
function composeCatalog(
  account: Account,
  organizations: readonly (Shared | undefined)[],
): AccountCatalog {
  const last = account.composed
  const isSame =
    last.organizations.length === organizations.length &&
    last.organizations.every((one, at) => one === organizations[at])
  if (isSame) return last.catalog
  const { own, memberships, fundedBy, housePays } = account
  const ids = memberships.filter(mayCall).map(({ organizationId }) => organizationId)
  const shared = new Map(
    organizations.flatMap((one, at) => (one ? [[ids[at] ?? '', one] as const] : [])),
  )
  const catalog = new AccountCatalog(own, memberships, { shared, fundedBy, housePays })
  account.composed = { organizations, catalog }
  return catalog
}
