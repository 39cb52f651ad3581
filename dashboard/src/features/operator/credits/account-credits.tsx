import { Anchor, Button, Group, Modal, Stack } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { CreditForm, type CreditKind } from './credit-form'
import { TransactionTable } from './transaction-table'
import { Money } from '../../../components/money'
import { Permitted } from '../../../components/permitted'
import { Tile } from '../../../components/tile'
import { transactionsQuery } from './queries'

interface Props {
  /** The id of a user or of an organization. */
  account: string
  name: string
  /** Booked balance in USD. */
  balance: number
  page: number
  onPage: (page: number) => void
}

const titles = { grant: 'Grant credits', adjust: 'Adjust balance' } as const

/** The balance of an account, its grants and adjustments, and its transactions. */
export function AccountCredits({ account, name, balance, page, onPage }: Props) {
  const [kind, setKind] = useState<CreditKind>()
  const close = () => setKind(undefined)
  return (
    <Stack gap="md">
      <Group justify="space-between">
        <Tile label="Balance" value={<Money amount={balance} />} hint="Booked" />
        <Permitted to="POST /api/admin/credits/grant">
          <Group gap="xs">
            <Button onClick={() => setKind('grant')}>{titles.grant}</Button>
            <Button variant="default" onClick={() => setKind('adjust')}>
              {titles.adjust}
            </Button>
          </Group>
        </Permitted>
      </Group>
      <TransactionTable
        query={useQuery(transactionsQuery({ account, page }))}
        isFiltered={false}
        page={page}
        onPage={onPage}
      />
      <Anchor
        size="sm"
        renderRoot={(props) => <Link to="/operator/transactions" search={{ account }} {...props} />}
      >
        Filter transactions
      </Anchor>
      {kind && (
        <Modal
          opened
          onClose={close}
          title={kind === 'grant' ? `Grant credits to ${name}` : `Adjust balance of ${name}`}
        >
          <CreditForm kind={kind} account={account} onClose={close} />
        </Modal>
      )}
    </Stack>
  )
}
