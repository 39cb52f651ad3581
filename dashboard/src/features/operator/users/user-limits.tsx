import { ResourceForm } from '../../../components/resource-form'
import { Group, NumberInput, Select, Text } from '@mantine/core'
import { useForm, type UseFormReturnType } from '@mantine/form'
import { notifications } from '@mantine/notifications'
import { useQuery } from '@tanstack/react-query'
import { api, bodyOf } from '../../../api/client'
import { Card } from '../../../components/card'
import { quotaTypes, type QuotaType } from '../../../url/period'
import { toChoices, toOverrides, type Choices } from './overrides'
import { formatLimit } from '../quota-requests/limit-text'
import { plansQuery, type Plan } from '../plans/queries'
import { useRefresh } from '../refresh'
import type { User } from './queries'
import { quotaNames } from '../../quota/queries'

const modes = [
  { value: 'plan', label: 'Plan limit' },
  { value: 'none', label: 'No limit' },
  { value: 'own', label: 'Custom' },
]

/** The limits of a user that override the plan. */
export function UserLimits({ user }: { user: User }) {
  const refresh = useRefresh()
  const { data: plans = [] } = useQuery(plansQuery)
  const plan = plans.find(({ id }) => id === user.plan_id)
  const form = useForm<Choices>({ initialValues: toChoices(user.limits) })
  const save = async (choices: Choices) => {
    const params = { path: { id: user.id } }
    const body = { limits: toOverrides(choices) }
    const { limits } = await bodyOf(api.PUT('/api/admin/users/{id}', { params, body }))
    const saved = toChoices(limits)
    form.setInitialValues(saved)
    form.setValues(saved)
    await refresh()
    notifications.show({ message: 'Saved. Applies from the next request.' })
  }
  return (
    <Card title="Limits">
      <Text size="sm" c="dimmed">
        Plan: {user.plan.name}. Set limits here that override the plan for this account.
      </Text>
      <ResourceForm form={form} save={save} label="Save limits">
        {quotaTypes.map((type) => (
          <LimitChoice key={type} type={type} plan={plan} form={form} />
        ))}
      </ResourceForm>
    </Card>
  )
}

interface ChoiceProps {
  type: QuotaType
  plan: Plan | undefined
  form: UseFormReturnType<Choices>
}

const LimitChoice = ({ type, plan, form }: ChoiceProps) => (
  <Group align="flex-end" gap="sm">
    <Select
      label={quotaNames[type]}
      // The line is there before the plan is, so that nothing moves when it has loaded.
      description={`Plan: ${plan ? formatLimit(type, plan[type]) : '…'}`}
      w={240}
      data={modes}
      allowDeselect={false}
      {...form.getInputProps(`${type}.mode`)}
    />
    {form.values[type].mode === 'own' && (
      <NumberInput
        aria-label={`${quotaNames[type]} of this account`}
        required
        min={type === 'monthly_spend' ? 0 : 1}
        decimalScale={type === 'monthly_spend' ? 2 : 0}
        prefix={type === 'monthly_spend' ? '$' : ''}
        thousandSeparator
        {...form.getInputProps(`${type}.value`)}
      />
    )}
  </Group>
)
