import { NumberInput, SimpleGrid, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { notifications } from '@mantine/notifications'
import { changesOf } from '../../changes'
import { FormFrame } from '../../components/form-frame'
import { quotaTypes } from '../../money-search'
import type { Plan } from '../../operator/plans'
import { useRefresh } from '../../operator/refresh'
import { quotaNames } from '../../quota'
import { useSubmit } from '../../submit'

/** An empty number field is an empty text. */
type Amount = number | string

interface Fields {
  name: string
  requests_per_minute: Amount
  tokens_per_minute: Amount
  concurrent_requests: Amount
  monthly_requests: Amount
  monthly_spend: Amount
  max_org_members: Amount
}

const usualMembers = 100

const fieldsOf = (plan: Plan | undefined): Fields => ({
  name: plan?.name ?? '',
  requests_per_minute: plan?.requests_per_minute ?? '',
  tokens_per_minute: plan?.tokens_per_minute ?? '',
  concurrent_requests: plan?.concurrent_requests ?? '',
  monthly_requests: plan?.monthly_requests ?? '',
  monthly_spend: plan?.monthly_spend ?? '',
  max_org_members: plan?.max_org_members ?? usualMembers,
})

interface Props {
  /** The plan to edit; undefined for a new one. */
  plan?: Plan
  save: (fields: object) => Promise<void>
  onClose: () => void
}

export function PlanForm({ plan, save, onClose }: Props) {
  const refresh = useRefresh()
  const before = fieldsOf(plan)
  const form = useForm({ initialValues: before })
  const submission = useSubmit(async (fields: Fields) => {
    await save(plan ? changesOf(fields, before) : changesOf(fields, {}))
    await refresh()
    notifications.show({ message: `${fields.name} was saved.` })
    onClose()
  }, form)
  return (
    <FormFrame
      form={form}
      submission={submission}
      label={plan ? 'Save' : 'Create'}
      onCancel={onClose}
    >
      <TextInput
        label="Name"
        required
        maxLength={100}
        data-autofocus
        {...form.getInputProps('name')}
      />
      <SimpleGrid cols={{ base: 1, xs: 2 }}>
        {quotaTypes.map((type) => (
          <NumberInput
            key={type}
            label={quotaNames[type]}
            placeholder="No limit"
            min={type === 'monthly_spend' ? 0 : 1}
            decimalScale={type === 'monthly_spend' ? 2 : 0}
            prefix={type === 'monthly_spend' ? '$' : ''}
            thousandSeparator
            {...form.getInputProps(type)}
          />
        ))}
        <NumberInput
          label="Members per organization"
          required
          min={1}
          allowDecimal={false}
          thousandSeparator
          {...form.getInputProps('max_org_members')}
        />
      </SimpleGrid>
    </FormFrame>
  )
}
