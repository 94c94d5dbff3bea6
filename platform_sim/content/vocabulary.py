"""Words of content, by topic and kind. Past content consists of them; ads may use any words."""

TOPIC_WORDS = {
    "technology": "software engineer developer python code cloud data backend frontend systems "
    "web programming computer security pipelines testing api platform machine learning devops",
    "health": "nurse nursing hospital patients care clinic medical registered ward emergency "
    "surgery health therapy pediatric caregiver medicine wellness doctor",
    "commerce": "sales customers retail representative account store negotiation revenue market "
    "shop commission leads selling merchandise brand business",
    "education": "teacher school students classroom teaching lessons tutor education university "
    "curriculum mathematics learning pupils kindergarten lecturer",
    "finance": "accountant accounting finance ledger tax audit bank interest loan bookkeeping "
    "payroll credit budget savings invest money",
    "building": "construction carpenter electrician builder site plumbing roofing welding crane "
    "foreman masonry tools concrete contractor safety",
    "homes": "apartment house rent bedroom garden kitchen lease garage balcony mortgage moving "
    "neighborhood landlord furnished home family",
    "sport": "football basketball league match goal coach season olympic tennis playoffs champion "
    "score team athlete",
    "culture": "film music theatre festival book museum concert gallery actor novel album painting "
    "dance exhibition",
    "left": "equality union climate healthcare minimum wage progressive democrat reform welfare "
    "rights solidarity renewable",
    "right": "freedom border taxes conservative republican tradition guns faith military "
    "patriot deregulation police liberty",
}
KIND_WORDS = {
    "job": "hiring join our team full time position apply salary benefits remote",
    "housing": "available now viewing deposit utilities included street",
    "credit": "apply card rate approval limit annual percentage",
    "news": "today report says new study after week",
    "political": "vote election candidate congress campaign support",
}
KINDS = {
    "job": ("technology", "health", "commerce", "education", "finance", "building"),
    "housing": ("homes",),
    "credit": ("finance",),
    "news": ("technology", "health", "education", "finance", "homes", "sport", "culture"),
    "political": ("left", "right"),
}
