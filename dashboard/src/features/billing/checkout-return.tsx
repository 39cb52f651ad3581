import { Alert, Loader, Group } from '@mantine/core'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { useEffect } from 'react'
import { checkoutQuery, type Transaction } from './queries'
import { usd } from '../../format/money'

const route = getRouteApi('/home/billing')
const pollEveryMs = 2000

interface Props {
  id: string
  organization: string | undefined
}

/** The outcome of the payment from which the user returns. */
export function CheckoutReturn({ id, organization }: Props) {
  const queries = useQueryClient()
  const navigate = route.useNavigate()
  const { data } = useQuery({
    ...checkoutQuery(id, organization),
    refetchInterval: ({ state }) => (isOpen(state.data) ? pollEveryMs : false),
  })
  const status = data?.status
  useEffect(() => {
    if (status === 'completed') void queries.invalidateQueries({ queryKey: ['billing'] })
  }, [status, queries])
  if (!data) return undefined
  const close = () =>
    void navigate({ search: (now) => ({ ...now, checkout: undefined }), replace: true })
  return (
    <div aria-live="polite">
      <Outcome transaction={data} onClose={close} />
    </div>
  )
}

const isOpen = (transaction: Transaction | null | undefined) => transaction?.status === 'pending'

interface OutcomeProps {
  transaction: Transaction
  onClose: () => void
}

function Outcome({ transaction: { status, amount }, onClose }: OutcomeProps) {
  const closing = { withCloseButton: true, closeButtonLabel: 'Close', onClose }
  if (status === 'completed') {
    return (
      <Alert color="green" title="Thank you" {...closing}>
        {usd(amount)} were added to the balance.
      </Alert>
    )
  }
  if (status === 'pending') {
    return (
      <Alert color="blue" title="Waiting for the payment">
        <Group gap="xs">
          <Loader size="xs" aria-hidden />
          The payment processor has not confirmed {usd(amount)} yet. Most payments take a few
          seconds.
        </Group>
      </Alert>
    )
  }
  return (
    <Alert color="red" title="Payment not completed" {...closing}>
      {status === 'expired' ? 'The checkout expired.' : 'The payment failed.'} No credits were
      added.
    </Alert>
  )
}
