#ifndef PI_INTERCOM_BROKER_DOMAIN_DELIVERY_SUMMARY_H_
#define PI_INTERCOM_BROKER_DOMAIN_DELIVERY_SUMMARY_H_

#include "intercom/v1/inspect.pb.h"

namespace intercom {

// A record without any text.
v1::DeliverySummary SummaryOf(const v1::DeliveryRecord& record);

}  // namespace intercom

#endif  // PI_INTERCOM_BROKER_DOMAIN_DELIVERY_SUMMARY_H_
