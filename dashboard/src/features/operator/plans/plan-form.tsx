import { NumberInput, SimpleGrid, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { notifications } from '@mantine/notifications'
import { api, type Schemas } from '../../../api/client'
import { changedFields, toBody } from '../../../components/changed-fields'
import { ResourceForm } from '../../../components/resource-form'
import { quotaTypes, type QuotaType } from '../../../url/period'
import type { Plan } from './queries'
import { useRefresh } from '../refresh'
import { quotaNames } from '../../quota/queries'

/** An empty number field is an empty text. */
type Amount = number | ''

type Fields = Record<QuotaType, Amount> & { name: string; max_org_members: number }

const usualMembers = 100

const amountOf = (plan: Plan | undefined, type: QuotaType): Amount => plan?.[type] ?? ''

const fieldsOf = (plan: Plan | undefined): Fields => ({
  name: plan?.name ?? '',
  requests_per_minute: amountOf(plan, 'requests_per_minute'),
  tokens_per_minute: amountOf(plan, 'tokens_per_minute'),
  images_per_minute: amountOf(plan, 'images_per_minute'),
  audio_seconds_per_minute: amountOf(plan, 'audio_seconds_per_minute'),
  concurrent_requests: amountOf(plan, 'concurrent_requests'),
  monthly_requests: amountOf(plan, 'monthly_requests'),
  monthly_spend: amountOf(plan, 'monthly_spend'),
  max_org_members: plan?.max_org_members ?? usualMembers,
})

interface Props {
  /** The plan to edit; undefined for a new one. */
  plan?: Plan
  onClose: () => void
}

export function PlanForm({ plan, onClose }: Props) {
  const refresh = useRefresh()
  const before = fieldsOf(plan)
  const form = useForm({ initialValues: before })
  const save = async (fields: Fields) => {
    await (plan
      ? api.PUT('/api/admin/plans/{id}', {
          params: { path: { id: plan.id } },
          body: changedFields<Schemas['ChangedPlan']>(fields, before),
        })
      : api.POST('/api/admin/plans', { body: toBody<Schemas['NewPlan']>(fields) }))
    await refresh()
    notifications.show({ message: `${fields.name} was saved.` })
    onClose()
  }
  return (
    <ResourceForm form={form} save={save} label={plan ? 'Save' : 'Create'} onCancel={onClose}>
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
    </ResourceForm>
  )
}
