import { Select, SimpleGrid } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { managedQuery } from './queries'
import { Page } from '../../components/page'
import { serviceQuery } from '../../api/installation'
import { AddCredits } from './add-credits'
import { BalanceCard } from './balance-card'
import { CheckoutReturn } from './checkout-return'
import { CompanyCard } from './company-card'
import { Invoices } from './invoices'
import { Recharge } from './recharge'
import { Payments } from './payments'
import { Statement } from './statement'

const route = getRouteApi('/home/billing')

export function BillingPage() {
  const { organization, checkout } = route.useSearch()
  const { data: service, isPending } = useQuery(serviceQuery)
  const takesPayments = service?.features['payments']
  return (
    <Page
      title="Billing"
      about="Prepaid credits pay for each request."
      actions={<BillingOwner organization={organization} />}
    >
      {checkout !== undefined && <CheckoutReturn id={checkout} organization={organization} />}
      <SimpleGrid cols={{ base: 1, md: 2 }}>
        <BalanceCard organization={organization} />
        <AddCredits key={organization} organization={organization} takesPayments={takesPayments} />
      </SimpleGrid>
      {organization === undefined && takesPayments === true && <Recharge />}
      {/* What is above does not appear later and move an open list of its filters. */}
      {!isPending && (
        <>
          <Statement key={organization} />
          {takesPayments === true && <Payments />}
          <Invoices key={`invoices ${organization}`} organization={organization} />
          <CompanyCard key={`company ${organization}`} organization={organization} />
        </>
      )}
    </Page>
  )
}

const own = 'own'

/** Selects the billing account; renders nothing when the user manages no organization. */
function BillingOwner({ organization }: { organization: string | undefined }) {
  const { data = [] } = useQuery(managedQuery)
  const navigate = route.useNavigate()
  if (data.length === 0) return undefined
  return (
    <Select
      aria-label="Billing account"
      allowDeselect={false}
      data={[
        { value: own, label: 'Personal account' },
        ...data.map(({ id, name }) => ({ value: id, label: name })),
      ]}
      value={organization ?? own}
      onChange={(value) =>
        void navigate({
          search: { organization: value === own ? undefined : (value ?? undefined) },
        })
      }
    />
  )
}
