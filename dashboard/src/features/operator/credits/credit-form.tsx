import { NumberInput, Text, Textarea } from '@mantine/core'
import { useForm } from '@mantine/form'
import { notifications } from '@mantine/notifications'
import { api, bodyOf } from '../../../api/client'
import { ResourceForm } from '../../../components/resource-form'
import { exactUsd } from '../../../format/money'
import { useRefresh } from '../refresh'
import { ofAccount } from './queries'

export type CreditKind = 'grant' | 'adjust'

const labels = {
  grant: {
    about: 'Booked immediately, as a bonus.',
    label: 'Grant',
    amount: 'USD, above 0',
  },
  adjust: {
    about:
      'Corrects the booked balance. This cannot be undone, only corrected again. Credits held by running requests cannot be removed.',
    label: 'Adjust',
    amount: 'USD; negative to remove credits',
  },
} as const

interface Props {
  kind: CreditKind
  /** The id of a user or of an organization. */
  account: string
  onClose: () => void
}

/** Grants credits to an account, or adjusts its balance. */
export function CreditForm({ kind, account, onClose }: Props) {
  const { about, label, amount: amountHint } = labels[kind]
  const refresh = useRefresh()
  const form = useForm<{ amount: number | string; reason: string }>({
    initialValues: { amount: '', reason: '' },
  })
  const save = async ({ amount, reason }: typeof form.values) => {
    const body = { ...ofAccount(account), amount: Number(amount), reason }
    const answer = await bodyOf(api.POST(`/api/admin/credits/${kind}`, { body }))
    const { amount: booked, balance_after: balance } = answer
    await refresh()
    const now = balance === null ? '' : ` New balance: ${exactUsd(balance)}.`
    notifications.show({ message: `${exactUsd(booked)} booked.${now}` })
    onClose()
  }
  return (
    <ResourceForm form={form} save={save} label={label} onCancel={onClose}>
      <Text size="sm">{about}</Text>
      <NumberInput
        label="Amount"
        description={amountHint}
        required
        allowNegative={kind === 'adjust'}
        decimalScale={9}
        prefix="$"
        thousandSeparator
        data-autofocus
        {...form.getInputProps('amount')}
      />
      <Textarea
        label="Reason"
        description="Shown to the account in its transactions"
        required
        maxLength={500}
        autosize
        minRows={2}
        {...form.getInputProps('reason')}
      />
    </ResourceForm>
  )
}
